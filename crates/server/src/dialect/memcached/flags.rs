// SPDX-License-Identifier: Apache-2.0
//! The flags for settings that all servers share, and the flags without effect.

use super::flag::{Flag, flag};
use super::interface::Interface;
use super::option::Given;
use super::options;
use super::port::Port;
use crate::settings::{Configuration, Listen, LogLevel, SocketMode};
use clap::value_parser as is;
use std::path::PathBuf;

/// The long name of `-l`.
pub(super) const LISTEN: &str = "listen";

/// The long name of `-i`.
pub(super) const LICENSE: &str = "license";

/// The long name of `-Z`.
pub(super) const ENCRYPT: &str = "enable-ssl";

/// The long name of `-o`.
pub(super) const EXTENDED: &str = "extended";

/// The rows, in the order of the help.
pub(super) fn shared<C: Configuration>() -> Vec<Flag<C>> {
    [connections(), process(), without_effect(), refused()].into_iter().flatten().collect()
}

/// Where to listen, and how connections are served.
fn connections<C: Configuration>() -> Vec<Flag<C>> {
    vec![
        flag("-p", "port")
            .value("NUM", Port)
            .about("TCP port to listen on [default: 11211]")
            .over("[server] port")
            .sets(|said, port: Option<u16>| {
                let server = said.config.sections_mut().server;
                // 0 does not turn TCP off: the system chooses a port, too.
                server.port = Some(port.unwrap_or(0));
                server.listen.clear();
            }),
        flag("-s", "unix-socket")
            .value("FILE", is!(PathBuf))
            .about("Unix socket to listen on (instead of TCP)")
            .over("[server] listen")
            .sets(|said, path: PathBuf| {
                said.config.sections_mut().server.listen = vec![Listen::Unix(path)];
            }),
        flag("-a", "unix-mask")
            .value("MASK", is!(SocketMode))
            .about("Access mask of the unix socket, in octal [default: 0700]")
            .over("[server] socket_mode")
            .sets(|said, mode| said.config.sections_mut().server.socket_mode = mode),
        flag("-l", LISTEN)
            .value("ADDR", is!(Interface))
            .about(
                "Addresses to listen on, as ADDR or ADDR:PORT, with notls: in front for plain text \
                 while TLS is configured [default: 127.0.0.1]",
            )
            .over("[server] listen")
            .sets_all(|said, interfaces: Vec<Interface>| {
                let port = said.port();
                // A unix socket is instead of TCP.
                if !said.has("unix-socket") {
                    let listen = interfaces.iter().flat_map(|interface| interface.at(port));
                    said.config.sections_mut().server.listen = listen.collect();
                }
            }),
        flag("-c", "conn-limit")
            .value("NUM", is!(usize))
            .about("Connections served at once [default: 10000]")
            .over("[server] max_connections")
            .sets(|said, most| said.config.sections_mut().server.max_connections = most),
        flag("-t", "threads")
            .value("NUM", is!(usize))
            .about("Threads that serve requests [default: 1]")
            .over("[worker] threads")
            .sets(|said, threads| said.config.sections_mut().worker.threads = threads),
        flag("-b", "listen-backlog")
            .value("NUM", is!(u32))
            .about("Connections that may wait to be accepted [default: 1024]")
            .over("[server] backlog")
            .sets(|said, backlog| said.config.sections_mut().server.backlog = backlog),
        flag("-v", "verbose")
            .about("Log more: -v debug, -vv trace")
            .over("[debug] log_level")
            .counts(|said, times| {
                let level = if times == 1 { LogLevel::Debug } else { LogLevel::Trace };
                said.config.sections_mut().debug.log_level = level;
            }),
        flag("-U", "udp-port")
            .value("NUM", no_udp as fn(&str) -> Result<u16, String>)
            .about("UDP port: only 0, there is no UDP"),
    ]
}

/// Flags about the process, and the other flags that have an effect.
fn process<C: Configuration>() -> Vec<Flag<C>> {
    vec![
        flag("-d", "daemon")
            .about("Go to the background")
            .does(|said| said.process.goes_behind = true),
        flag("-P", "pidfile")
            .value("FILE", is!(PathBuf))
            .about("File to write the process's number to")
            .sets(|said, path| said.process.pid_file = Some(path)),
        flag("-u", "user")
            .value("NAME", is!(String))
            .about("User to become, when started by root")
            .sets(|said, user| said.process.user = Some(user)),
        flag("-k", "lock-memory")
            .about("Keep all memory from being swapped out")
            .does(|said| said.process.locks_memory = true),
        flag("-r", "enable-coredumps")
            .about("Allow core dumps of any size")
            .does(|said| said.process.dumps_core = true),
        flag("-i", LICENSE).about("Print the licence and exit"),
        flag("-R", "max-reqs-per-event")
            .value("NUM", is!(usize))
            .about("Requests a connection is served before others have their turn [default: 256]")
            .over("[worker] requests_per_turn")
            .sets(|said, most| said.config.sections_mut().worker.requests_per_turn = most),
        flag("-Z", ENCRYPT)
            .about("Encrypt, with the files of -o ssl_chain_cert=FILE,ssl_key=FILE")
            .needs(
                |config| config.sections().tls.private_key.is_some(),
                "needs -o ssl_chain_cert=FILE,ssl_key=FILE",
            ),
        flag("-o", EXTENDED)
            .value("NAME[=VALUE]", is!(Given))
            .about(
                "Options of memcached's: idle_timeout=SECONDS, read_buf_mem_limit=MB, \
                 ssl_chain_cert=FILE, ssl_key=FILE, ssl_ca_cert=FILE, ssl_verify_mode=NUM, \
                 ssl_min_version=NUM; others have no effect",
            )
            // The options are applied after all flags.
            .sets_all(|_, _: Vec<Given>| {}),
    ]
}

/// UDP is off.
fn no_udp(text: &str) -> Result<u16, String> {
    match text {
        "0" => Ok(0),
        _ => Err("there is no UDP: use TCP, -p".to_owned()),
    }
}

/// Flags about how memcached works inside, which have no effect here.
fn without_effect<C: Configuration>() -> Vec<Flag<C>> {
    vec![
        flag("-f", "slab-growth-factor").value("NUM", is!(f64)).without_effect(options::SLABS),
        flag("-n", "slab-min-size").value("BYTES", is!(u64)).without_effect(options::SLABS),
        flag("-C", "disable-cas")
            .without_effect("versions for cas are a part of every item, and take no room"),
        flag("-N", "napi_ids")
            .value("NUM", is!(u32))
            .without_effect("a connection goes to the worker that has the fewest"),
    ]
}

/// Flags for features that somebody would rely on and that are not implemented.
fn refused<C: Configuration>() -> Vec<Flag<C>> {
    vec![
        flag("-e", "memory-file")
            .value("FILE", is!(PathBuf))
            .refused("nothing is kept over a restart: leave it out"),
    ]
}
