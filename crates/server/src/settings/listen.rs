// SPDX-License-Identifier: Apache-2.0
//! [`Listen`]: an address to listen on, as an operator writes it.

use config::Form;
use reactor::Endpoint;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// An address to listen on.
///
/// ```
/// use server::settings::Listen;
///
/// for text in ["127.0.0.1:11211", "[::1]:11211", "notls:10.0.0.1:1", "unix:/run/cache.sock"] {
///     assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
/// }
/// assert!("localhost".parse::<Listen>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Listen {
    /// TCP; with TLS if `[tls]` has a key and `plain` is not set.
    Tcp {
        /// The address and port.
        address: SocketAddr,
        /// Whether it was written with `notls:`.
        plain: bool,
    },
    /// A unix socket, always without TLS.
    Unix(PathBuf),
}

impl Listen {
    /// The endpoint to bind, with the permission bits of unix sockets.
    pub(crate) fn endpoint(&self, mode: SocketMode) -> Endpoint {
        match self {
            Listen::Tcp { address, .. } => Endpoint::Tcp(*address),
            Listen::Unix(path) => Endpoint::Unix { path: path.clone(), mode: mode.0 },
        }
    }

    /// Whether connections are to be encrypted once a key is configured.
    pub(crate) fn wants_tls(&self) -> bool {
        matches!(self, Listen::Tcp { plain: false, .. })
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("a unix socket without a path".to_owned()),
                path => Ok(Listen::Unix(path.into())),
            };
        }
        let (address, plain) = match text.strip_prefix("notls:") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        match address.parse() {
            Ok(address) => Ok(Listen::Tcp { address, plain }),
            Err(_) => Err(format!(
                "{text:?} is not an address such as \"127.0.0.1:11211\", \"[::1]:11211\", \
                 \"notls:127.0.0.1:11212\" or \"unix:/run/cache.sock\""
            )),
        }
    }
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Listen> for String {
    fn from(listen: Listen) -> String {
        listen.to_string()
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp { address, plain: false } => write!(f, "{address}"),
            Listen::Tcp { address, plain: true } => write!(f, "notls:{address}"),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Form for Listen {
    fn form() -> String {
        "listen address".to_owned()
    }
}

/// Permission bits of a unix socket, written in octal: `"0700"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SocketMode(pub u32);

impl Default for SocketMode {
    /// 0700: the user that runs the server, nobody else.
    fn default() -> Self {
        SocketMode(0o700)
    }
}

impl Form for SocketMode {
    fn form() -> String {
        "mode".to_owned()
    }
}

impl FromStr for SocketMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match u32::from_str_radix(text, 8) {
            Ok(mode) if mode <= 0o777 => Ok(SocketMode(mode)),
            _ => Err(format!("{text:?} is not an octal mode such as \"0700\"")),
        }
    }
}

impl TryFrom<String> for SocketMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SocketMode> for String {
    fn from(mode: SocketMode) -> String {
        format!("{:04o}", mode.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "unix:", "11211", "localhost:1", "127.0.0.1", "notls:unix:/x", "tls:1"] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!("0666".parse(), Ok(SocketMode(0o666)));
        assert_eq!(String::from(SocketMode(0o70)), "0070");
        for text in ["", "888", "1777", "rw-"] {
            assert!(text.parse::<SocketMode>().is_err(), "{text}");
        }
    }
}
