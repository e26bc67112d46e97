// SPDX-License-Identifier: Apache-2.0
//! CONFIG: the parameters while the server runs.

use crate::engine::call::Call;
use crate::host::config;
use crate::host::config::{Access, ConfigFile, Home, Parameter};
use crate::wire::fault::{Done, Fault};
use crate::wire::glob;
use keyspace::View;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::{io, path};

/// Reads parameters: one by its name, which is shown as it is written, or all that match a pattern.
pub(crate) fn config_get<V: View>(call: &mut Call<'_, V>) -> Done {
    let all: Vec<(&str, &Parameter)> = shown().collect();
    let (mut found, mut are_found) = (Vec::new(), vec![false; all.len()]);
    for pattern in call.args.tail(2).iter() {
        let is_plain = !pattern.iter().any(|byte| b"*?[".contains(byte));
        for ((name, parameter), is_found) in all.iter().zip(&mut are_found) {
            let may_be = !*is_found && (is_plain || !parameter.is_hidden);
            if may_be && is_meant(pattern, name) {
                *is_found = true;
                found.push((if is_plain { pattern } else { name.as_bytes() }, *parameter));
            }
        }
    }
    call.out.map(found.len());
    for (name, parameter) in found {
        call.out.bulk(name);
        let value = call.configured(parameter);
        call.out.bulk(&if parameter.name == "dir" { whole_path(value) } else { value });
    }
    Ok(())
}

/// A directory as seen from the root, as Redis, which goes there, shows it.
fn whole_path(given: Vec<u8>) -> Vec<u8> {
    let path = path::absolute(OsStr::from_bytes(&given));
    path.map_or(given, |path| path.into_os_string().into_vec())
}

/// The parameters by each of their names.
fn shown() -> impl Iterator<Item = (&'static str, &'static Parameter)> {
    let is_shown = |parameter: &&Parameter| {
        !matches!(parameter.home, Home::Directive(_) | Home::Written { .. })
    };
    let by_name =
        |parameter: &'static Parameter| parameter.names().map(move |name| (name, parameter));
    config::parameters().filter(is_shown).flat_map(by_name)
}

/// Whether a pattern, which may be a plain name, means a parameter.
fn is_meant(pattern: &[u8], name: &str) -> bool {
    glob::matches_with(pattern, name.as_bytes(), true)
}

/// Changes parameters: all that are named, or none.
pub(crate) fn config_set<V: View>(call: &mut Call<'_, V>) -> Done {
    let words = call.args.tail(2);
    if !words.len().is_multiple_of(2) {
        return Err(Fault::SYNTAX);
    }
    let mut names: Vec<&'static str> = Vec::with_capacity(words.len() / 2);
    let mut changes: Vec<(&'static Parameter, &[u8])> = Vec::with_capacity(words.len() / 2);
    for place in (0..words.len()).step_by(2) {
        let (given, text) = (words.arg(place), words.arg(place + 1));
        let (name, parameter) = shown()
            .find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(given))
            .ok_or_else(|| unknown(given))?;
        match parameter.access {
            Access::Immutable => return Err(refused(given, "can't set immutable config")),
            Access::Protected if !call.may("enable-protected-configs") => {
                return Err(refused(given, "can't set protected config"));
            }
            Access::Free | Access::Protected => {}
        }
        if names.contains(&name) {
            return Err(refused(given, "duplicate parameter"));
        }
        names.push(name);
        changes.push((parameter, text));
    }
    let outcome = call.reconfigure(&changes);
    outcome.map_err(|(place, problem)| refused(names[place].as_bytes(), &problem))?;
    if names.contains(&"maxmemory") {
        warn_if_full(call);
    }
    call.out.ok();
    Ok(())
}

/// Says in the log that keys will go, or writes be refused.
fn warn_if_full<V: View>(call: &Call<'_, V>) {
    let (limit, used) =
        (call.settings().maxmemory(), call.settings().with_overhead(call.keys.view.used_bytes()));
    if limit != 0 && limit < used {
        log::warn!(
            "CONFIG SET maxmemory: {limit} bytes are less than the {used} in use. Keys are evicted, or writes \
             refused, as maxmemory-policy says."
        );
    }
}

fn unknown(name: &[u8]) -> Fault {
    let mut text = b"ERR Unknown option or number of arguments for CONFIG SET - '".to_vec();
    text.extend_from_slice(name);
    text.push(b'\'');
    Fault::made(text)
}

fn refused(name: &[u8], problem: &str) -> Fault {
    let mut text = b"ERR CONFIG SET failed (possibly related to argument '".to_vec();
    text.extend_from_slice(name);
    text.extend_from_slice(format!("') - {problem}").as_bytes());
    Fault::made(text)
}

/// Sets the counters of INFO to zero.
pub(crate) fn config_resetstat<V: View>(call: &mut Call<'_, V>) -> Done {
    call.reset_counts();
    call.out.ok();
    Ok(())
}

/// Makes the `redis.conf` that the server was started with say what is in force.
pub(crate) fn config_rewrite<V: View>(call: &mut Call<'_, V>) -> Done {
    const FAILED: &str = "ERR Rewriting config file: ";
    let file = match call.config_file() {
        None => return Err(Fault::new("ERR The server is running without a config file")),
        Some(ConfigFile::Other(_)) => {
            return Err(Fault::made(format!("{FAILED}it is no redis.conf, people write it")));
        }
        Some(ConfigFile::RedisConf(file)) => file,
    };
    if let Err(error) = call.rewrite_config(file) {
        log::warn!("CONFIG REWRITE failed: {}: {error}", file.display());
        return Err(Fault::made(format!("{FAILED}{}", reason(&error))));
    }
    log::info!("CONFIG REWRITE executed with success.");
    call.out.ok();
    Ok(())
}

/// What the system says of an error, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
