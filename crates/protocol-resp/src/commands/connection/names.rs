// SPDX-License-Identifier: Apache-2.0
//! What a client is called, by the server and by itself: CLIENT ID, GETNAME, SETNAME, SETINFO.

use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::client::Names;
use crate::wire::fault::{Done, Fault};

/// Tells the number of the connection.
pub(crate) fn client_id<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { id, out, .. } = call.parts();
    out.integer(id.serial() as i64);
    Ok(())
}

/// Tells the name of the connection, if it has one.
pub(crate) fn client_getname<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { client, out, .. } = call.parts();
    let name = client.map(|client| client.names.lock().name.clone());
    out.bulk_or_null(name.as_deref().filter(|name| !name.is_empty()));
    Ok(())
}

/// Names the connection; an empty name takes it away.
pub(crate) fn client_setname<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let parts = call.parts();
    let name = parts.args.arg(2);
    check_name(name, C::NAME_MAX)?;
    parts.set_name(name);
    parts.out.ok();
    Ok(())
}

/// Notes which library the client uses.
pub(crate) fn client_setinfo<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let CallParts { args, client, out, .. } = call.parts();
    let (attribute, value) = (args.arg(2), args.arg(3));
    let place: fn(&mut Names) -> &mut Box<[u8]> = if attribute.eq_ignore_ascii_case(b"lib-name") {
        |names| &mut names.lib_name
    } else if attribute.eq_ignore_ascii_case(b"lib-ver") {
        |names| &mut names.lib_version
    } else {
        return Err(Fault::made([b"ERR Unrecognized option '", attribute, b"'"].concat()));
    };
    if !is_plain(value) {
        let why: &[u8] = b" cannot contain spaces, newlines or special characters.";
        return Err(Fault::made([b"ERR ", attribute, why].concat()));
    }
    check_length(value, C::NAME_MAX)?;
    if let Some(client) = client {
        client.rename(|names| *place(names) = value.into());
    }
    out.ok();
    Ok(())
}

/// Refuses a name that would not fit in a list of names, or of more than `most` bytes.
pub(super) fn check_name(name: &[u8], most: usize) -> Done {
    if is_plain(name) {
        return check_length(name, most);
    }
    let text = "ERR Client names cannot contain spaces, newlines or special characters.";
    Err(Fault::new(text))
}

/// Refuses a name of more than `most` bytes.
fn check_length(name: &[u8], most: usize) -> Done {
    if name.len() <= most {
        return Ok(());
    }
    Err(Fault::made(format!("ERR Client names cannot be longer than {most} bytes.")))
}

/// Whether all bytes are visible characters of ASCII.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_graphic)
}

impl CallParts<'_, '_> {
    pub(super) fn set_name(&self, name: &[u8]) {
        if let Some(client) = self.client {
            client.rename(|names| names.name = name.into());
        }
    }
}
