// SPDX-License-Identifier: Apache-2.0
//! [`flags`]: memcached's flags about commands, logins and datagrams. A flag overrides the configuration file.

use crate::MemcacheConfiguration;
use clap::value_parser as is;
use protocol_memcache::settings::{Memcache, Spoken};
use server::dialect::memcached::{Flag, Port, Said, flag};
use std::path::PathBuf;

/// The variable by which a memcached that is built with `--enable-sasl-pwdb` finds its users.
const SASL_FILE: &str = "MEMCACHED_SASL_PWDB";

/// The rows for `[memcache]` and `[udp]`, to be added to those for what all servers share.
#[must_use]
pub fn flags<C: MemcacheConfiguration + 'static>() -> Vec<Flag<C>> {
    [vec![datagrams()], commands(), login()].into_iter().flatten().collect()
}

fn memcache<'a, C: MemcacheConfiguration>(said: &'a mut Said<'_, C>) -> &'a mut Memcache {
    said.config.memcache_mut().0
}

fn datagrams<C: MemcacheConfiguration + 'static>() -> Flag<C> {
    // Before `-l`, whose addresses have the TCP port, which is the UDP port if nothing else is said.
    flag("-U", "udp-port")
        .after("port")
        .value("NUM", Port)
        .about(
            "UDP port to receive on, and TCP port unless that is given too; 0 is none [default: 0]",
        )
        .over("[udp] port")
        .sets(|said, port: Option<u16>| {
            if let Some(port) = port {
                said.config.sections_mut().server.port.get_or_insert(port);
            }
            // On the same addresses as TCP.
            let listen = port.map(|port| said.elsewhere(port)).unwrap_or_default();
            let (_, udp) = said.config.memcache_mut();
            (udp.port, udp.listen) = (port, listen);
        })
}

/// What is spoken, and what clients may do.
fn commands<C: MemcacheConfiguration + 'static>() -> Vec<Flag<C>> {
    vec![
        flag("-B", "protocol")
            .after("listen")
            .value("NAME", is!(Spoken))
            .about("What is spoken: auto, ascii or binary [default: auto]")
            .over("[memcache] protocol")
            .sets(|said, spoken| memcache(said).protocol = spoken),
        flag("-A", "enable-shutdown")
            .after("protocol")
            .about("Let clients stop the server: shutdown")
            .over("[memcache] shutdown")
            .does(|said| memcache(said).shutdown = true),
        flag("-F", "disable-flush-all")
            .after("enable-shutdown")
            .about("Refuse flush_all")
            .over("[memcache] flush")
            .does(|said| memcache(said).flush = false),
        flag("-X", "disable-dumping")
            .after("disable-flush-all")
            .about("Refuse to list items: lru_crawler metadump, mgdump, stats cachedump")
            .over("[memcache] dump")
            .does(|said| memcache(said).dump = false),
        flag("-W", "disable-watch")
            .after("disable-dumping")
            .about("Refuse to show clients what happens in the server: watch")
            .over("[memcache] watch")
            .does(|said| memcache(said).watch = false),
        flag("-D", "")
            .after("disable-watch")
            .value("CHAR", is!(String))
            .about("Count requests by the prefix of their key, which this character ends: stats detail")
            .over("[memcache] detail")
            .sets(|said, delimiter: String| {
                // As memcached, the first character of what is given.
                let first = delimiter.chars().next();
                let memcache = memcache(said);
                memcache.prefix_delimiter = first.into_iter().collect();
                memcache.detail = true;
            }),
    ]
}

fn login<C: MemcacheConfiguration + 'static>() -> Vec<Flag<C>> {
    vec![
        flag("-Y", "auth-file")
            .after("protocol")
            .value("FILE", is!(PathBuf))
            .about(
                "Have clients log in as one of the users of this file, lines of user:password; text alone is spoken \
                 unless -B or -S is given",
            )
            .over("[memcache] auth_file")
            .sets(|said, file| {
                memcache(said).auth_file = Some(file);
                if !said.has("protocol") {
                    memcache(said).protocol = Spoken::Ascii;
                }
            }),
        flag("-S", "enable-sasl")
            .after("auth-file")
            .about(
                "Have clients log in by SASL, as one of the users of -Y FILE, [memcache] auth_file or \
                 $MEMCACHED_SASL_PWDB; the binary protocol alone is spoken unless -B or -Y is given",
            )
            .over("[memcache] auth_file")
            .does(|said| {
                let file = &mut memcache(said).auth_file;
                // Without a name it is refused, in the words of its key.
                let named = || std::env::var_os(SASL_FILE).map(PathBuf::from);
                *file = Some(file.take().or_else(named).unwrap_or_default());
                if !said.has("protocol") {
                    let both = said.has("auth-file");
                    memcache(said).protocol = if both { Spoken::Auto } else { Spoken::Binary };
                }
            }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::tests::Config;
    use server::dialect::memcached::{self, Arguments};

    fn config(line: &str) -> Config {
        let words = line.split(' ').map(Into::into);
        let arguments =
            Arguments::try_parse(clap::Command::new("mine"), memcached::flags(flags()), words);
        let mut config = Config::default();
        let _start = arguments.expect(line).apply(&mut config, Config::PORT).expect(line);
        config
    }

    #[test]
    fn clients_may_do_what_flags_let_them() {
        let Memcache { shutdown, flush, dump, watch, .. } = config("mine").memcache;
        assert_eq!((shutdown, flush, dump, watch), (false, true, true, true));
        let Memcache { shutdown, flush, dump, watch, .. } = config("mine -A -F -X -W").memcache;
        assert_eq!((shutdown, flush, dump, watch), (true, false, false, false));
        let Memcache { prefix_delimiter, detail, .. } = config("mine -D .x").memcache;
        assert_eq!((&prefix_delimiter[..], detail), (".", true));
    }

    #[test]
    fn who_logs_in_speaks_the_form_that_the_flag_has() {
        let spoken = |line: &str| config(line).memcache.protocol;
        assert_eq!(spoken("mine -Y /x"), Spoken::Ascii);
        assert_eq!(spoken("mine -S -Y /x"), Spoken::Auto);
        assert_eq!(spoken("mine -S"), Spoken::Binary);
        assert_eq!(spoken("mine -B auto -Y /x"), Spoken::Auto);
    }

    #[test]
    fn datagrams_come_to_the_addresses_of_tcp() {
        let of = |line: &str| {
            let config = config(line);
            let places = config.udp.places(&config.server);
            (
                config.server.port,
                places.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            )
        };
        assert_eq!(of("mine"), (Some(11211), String::new()));
        assert_eq!(of("mine -U 5"), (Some(5), "127.0.0.1:5".to_owned()));
        assert_eq!(of("mine -U 5 -p 6 -l 10.0.0.1"), (Some(6), "10.0.0.1:5".to_owned()));
        assert_eq!(of("mine -U 0"), (Some(11211), String::new()));
    }
}
