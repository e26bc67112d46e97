// SPDX-License-Identifier: Apache-2.0
//! The file of users: ACL LOAD, ACL SAVE.

use super::users;
use crate::acl::Acl;
use crate::engine::call::Call;
use crate::host::files;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::path::PathBuf;

/// The file of users.
fn path<V: View>(call: &Call<'_, V>) -> Result<PathBuf, Fault> {
    match call.acl_file() {
        Some(path) => Ok(path),
        None => Err(Fault::new(
            "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL \
             SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in \
             order to store users in the Redis configuration.",
        )),
    }
}

/// Reads the file of users again: all of it, or nothing if there is a mistake.
pub(crate) fn load<V: View>(call: &mut Call<'_, V>) -> Done {
    path(call)?;
    let loaded = call.load_acl_file();
    let gone = loaded.map_err(|problem| Fault::made(format!("ERR {problem}")))?;
    users::close_users(call, &gone);
    for account in call.acl().list() {
        users::close_subscribers(call, &account);
    }
    call.out.ok();
    Ok(())
}

/// Writes the file of users.
pub(crate) fn save<V: View>(call: &mut Call<'_, V>) -> Done {
    let path = path(call)?;
    if let Err(error) = files::replace(&path, &text(call.acl())) {
        ::log::warn!("the file of users {} is not written: {error}", path.display());
        return Err(Fault::new(
            "ERR There was an error trying to save the ACLs. Please check the server logs for more information",
        ));
    }
    call.out.ok();
    Ok(())
}

fn text(acl: &Acl) -> Vec<u8> {
    let mut text = Vec::new();
    for account in acl.list() {
        text.extend(account.line());
        text.push(b'\n');
    }
    text
}
