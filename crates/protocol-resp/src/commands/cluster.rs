// SPDX-License-Identifier: Apache-2.0
//! Cluster commands; this server is never part of a cluster.

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// What Redis answers that is not in a cluster.
pub(crate) fn disabled<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(Fault::new("ERR This instance has cluster support disabled"))
}
