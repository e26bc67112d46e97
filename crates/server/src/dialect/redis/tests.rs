// SPDX-License-Identifier: Apache-2.0
//! Files and flags of a small table of parameters.

mod conf;
mod flags;
mod listening;

use super::names::{Name, ParameterTable};

/// A few of Redis's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Few;

const fn name(name: &'static str, about: &'static str, place: Option<&'static str>) -> Name {
    Name { name, default: "1", about, place, is_list: false, is_secret: false, adds_up: false }
}

const fn list(name: Name) -> Name {
    Name { is_list: true, ..name }
}

const fn adding(name: Name) -> Name {
    Name { adds_up: true, ..list(name) }
}

const fn secret(name: Name) -> Name {
    Name { is_secret: true, ..name }
}

static ALL: [Name; 17] = [
    list(name("bind", "Addresses to listen on.", Some("[server] listen"))),
    name("port", "The port to listen on.", Some("[server] port")),
    name("unixsocket", "A unix socket.", Some("[server] listen")),
    name("tls-port", "The port for TLS.", Some("[tls]")),
    name("tls-cert-file", "The certificate.", Some("[tls] certificate_chain")),
    name("tls-key-file", "Its key.", Some("[tls] private_key")),
    name("tls-ca-cert-file", "Authorities.", Some("[tls] ca_file")),
    name("tls-auth-clients", "Whether clients show one.", Some("[tls] client_auth")),
    list(name("tls-protocols", "Versions.", Some("[tls] min_version"))),
    name("maxmemory", "Memory.", None),
    name("hz", "", None),
    name("hash-max-listpack-entries", "The most fields.", None),
    adding(name("save", "", None)),
    adding(name("client-output-buffer-limit", "Unread bytes.", None)),
    secret(name("requirepass", "The password.", None)),
    secret(name("masterauth", "", None)),
    secret(adding(name("user", "", None))),
];

impl ParameterTable for Few {
    fn all() -> impl Iterator<Item = Name> {
        ALL.iter().copied()
    }

    fn find(given: &[u8]) -> Option<Name> {
        let given = given.to_ascii_lowercase();
        let given = match given.as_slice() {
            b"hash-max-ziplist-entries" => b"hash-max-listpack-entries",
            given => given,
        };
        Self::all().find(|name| name.name.as_bytes() == given)
    }

    fn canonical(_: Name, value: &str) -> Result<String, String> {
        Ok(value.to_owned())
    }

    fn without_effect(_: Name, _: &str) -> Result<Option<&'static str>, String> {
        Ok(None)
    }

    fn words(line: &str) -> Option<Vec<String>> {
        let is_even = line.matches('"').count().is_multiple_of(2);
        is_even.then(|| line.split_whitespace().map(|word| word.replace('"', "")).collect())
    }
}
