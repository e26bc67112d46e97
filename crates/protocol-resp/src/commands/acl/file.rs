// SPDX-License-Identifier: Apache-2.0
//! The file of users: ACL LOAD, ACL SAVE.

use super::users;
use crate::acl::Acl;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    if let Err(error) = replace(&path, &text(call.acl())) {
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
        text.extend(users::line(&account));
        text.push(b'\n');
    }
    text
}

/// Puts a new file in place of the old one, which is there until the new one is whole.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".tmp-{}", std::process::id()));
    let new = path.with_file_name(name);
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(&new, path));
    if done.is_err() {
        // What is half written is of no use; that it cannot be removed is told by the error before.
        let _ = fs::remove_file(&new);
    }
    done
}
