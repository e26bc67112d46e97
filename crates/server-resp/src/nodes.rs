// SPDX-License-Identifier: Apache-2.0
//! [`reread_nodes`]: reads the nodes of a cluster when the server starts, and whenever their file changes.

use protocol_resp::service::Host;
use server::Builder;
use std::sync::Arc;

/// Reads the file of nodes of a server that is in a cluster, and makes the server read it again on SIGHUP and when it
/// has changed, which is looked for every second.
///
/// # Errors
///
/// When the file cannot be read, or what is wrong with it. When it is read again, errors are logged, and the nodes stay
/// those of before.
pub fn reread_nodes(builder: Builder, host: &Arc<Host>) -> Result<Builder, String> {
    host.read_nodes()?;
    let (read, look) = (Arc::clone(host), Arc::clone(host));
    let reread = move || read.read_nodes();
    Ok(builder
        .rereads_when_changed("nodes of the cluster", reread, move || look.nodes_have_changed()))
}
