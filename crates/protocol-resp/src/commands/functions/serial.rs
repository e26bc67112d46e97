// SPDX-License-Identifier: Apache-2.0
//! Libraries in serial form: FUNCTION DUMP, FUNCTION RESTORE.

use super::{header, made, refused};
use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::engine::script::forget;
use crate::host::functions::{Libraries, NotLinked};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::serial::{self, WrongLibrary};

/// Returns all libraries.
pub(crate) fn dump<V: View>(call: &mut Call<'_, V>) -> Done {
    let mut payload = Vec::new();
    let version = call.functions().read(|all| {
        serial::write_libraries(all.iter().map(|library| &*library.text), &mut payload)
    });
    serial::seal(&mut payload, version);
    call.out.bulk(&payload);
    Ok(())
}

/// What becomes of the libraries that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// They are deleted.
    Flush,
    /// They stay, and none of the new ones may have their names.
    Append,
    /// They are replaced by new ones with their names.
    Replace,
}

/// Loads libraries that were dumped: all or none.
pub(crate) fn restore<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 4 {
        return Err(dispatch::wrong_arguments(call));
    }
    let policy = match call.args.get(3).map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"append") => Policy::Append,
        Some(b"flush") => Policy::Flush,
        Some(b"replace") => Policy::Replace,
        Some(_) => {
            return Err(Fault::new(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
    };
    let opened = serial::open(call.arg(2));
    let wrong = Fault::new("ERR DUMP payload version or checksum are wrong");
    let (texts, _) = opened.ok_or(wrong)?;
    let mut new = Libraries::default();
    let done = read(call, texts, &mut new).and_then(|()| {
        let joined = call.functions().change(|all| join(all, &new, policy));
        joined.map_err(|why| refused(&why))
    });
    if let Err(fault) = done {
        new.iter().for_each(|library| forget(call, library.id));
        return Err(fault);
    }
    call.out.ok();
    Ok(())
}

/// Loads the libraries with these texts.
fn read<V: View>(call: &mut Call<'_, V>, texts: &[u8], new: &mut Libraries) -> Done {
    for text in serial::read_libraries(texts, call.bulk_max()) {
        let text = text.map_err(|why| {
            Fault::new(match why {
                WrongLibrary::Other => "ERR given type is not a function",
                WrongLibrary::ReleaseCandidate => "ERR Pre-GA function format not supported",
                WrongLibrary::Malformed => "ERR Failed loading library payload",
            })
        })?;
        let library = made(call, &text, &header::read(&text)?)?;
        new.link(&library).map_err(|why| {
            forget(call, library.id);
            match why {
                NotLinked::Library(name) => {
                    Fault::made([b"ERR Library '", &name[..], b"' already exists"].concat())
                }
                other => refused(&other),
            }
        })?;
    }
    Ok(())
}

/// Adds new libraries to those that are there; on an error nothing changes.
fn join(all: &mut Libraries, new: &Libraries, policy: Policy) -> Result<(), NotLinked> {
    let mut joined = match policy {
        Policy::Flush => all.without_all(),
        Policy::Append | Policy::Replace => all.clone(),
    };
    for library in new.iter() {
        if policy == Policy::Replace {
            joined.unlink(&library.name);
        }
    }
    for library in new.iter() {
        joined.link(library)?;
    }
    *all = joined;
    Ok(())
}
