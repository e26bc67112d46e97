// SPDX-License-Identifier: Apache-2.0
//! [`TlsOptions`]: the files and choices that an acceptor is made from. [`PeerTls`]: those for connections to other
//! servers.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::path::PathBuf;

/// Whether clients must show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// They are not asked for one.
    #[default]
    None,
    /// They may show one; it must be valid.
    Optional,
    /// They must show a valid one.
    Required,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2
    #[default]
    Tls12,
    /// TLS 1.3
    Tls13,
}

/// The files and choices that a [`TlsAcceptor`](crate::TlsAcceptor) is made from. All files are
/// PEM.
///
/// ```
/// use session::{ClientAuth, TlsOptions};
///
/// let options = TlsOptions {
///     ca_file: Some("clients.pem".into()),
///     client_auth: ClientAuth::Required,
///     ..TlsOptions::new("server.pem", "server.key")
/// };
/// assert_eq!(options.min_version, session::TlsVersion::Tls12);
/// ```
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The server's certificate, followed by the intermediate certificates up to its root.
    pub certificate_chain: PathBuf,
    /// The private key of the first certificate.
    pub private_key: PathBuf,
    /// Certificates of the authorities that client certificates must be issued by, or client certificates themselves.
    pub ca_file: Option<PathBuf>,
    /// Whether clients must show a certificate. Any value but `None` requires `ca_file`, and
    /// `ca_file` requires a value other than `None`, so that nobody relies on a check that does not
    /// take place.
    pub client_auth: ClientAuth,
    /// The oldest accepted version of TLS.
    pub min_version: TlsVersion,
}

impl TlsOptions {
    /// Options for this certificate and key, with TLS 1.2 or later and clients without
    /// certificates.
    pub fn new(certificate_chain: impl Into<PathBuf>, private_key: impl Into<PathBuf>) -> Self {
        TlsOptions {
            certificate_chain: certificate_chain.into(),
            private_key: private_key.into(),
            ca_file: None,
            client_auth: ClientAuth::None,
            min_version: TlsVersion::Tls12,
        }
    }
}

/// The files for TLS to other servers, which are read anew for each connection. All are PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTls {
    /// Certificates of the authorities that the other server's certificate must be issued by, or itself.
    pub ca_file: PathBuf,
    /// The certificate that is shown, followed by its intermediates, and its private key.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// An encrypted connection to another server.
pub trait PeerStream: Read + Write + Send + Debug {}
