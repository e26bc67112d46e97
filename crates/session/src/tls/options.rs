// SPDX-License-Identifier: Apache-2.0
//! [`TlsOptions`]: what an acceptor is made from.

use std::path::PathBuf;

/// Whether clients must show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// They are not asked for one.
    #[default]
    None,
    /// They may; one that is shown must be valid.
    Optional,
    /// They must.
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

/// What a [`TlsAcceptor`](crate::TlsAcceptor) is made from. All files are PEM.
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
    /// The server's certificate and then those that lead to its root.
    pub certificate_chain: PathBuf,
    /// The private key of the first certificate.
    pub private_key: PathBuf,
    /// Certificates of those whom clients' certificates must come from.
    pub ca_file: Option<PathBuf>,
    /// Whether clients must show a certificate; other than `None` needs `ca_file`, and `ca_file`
    /// needs other than `None`, so that nobody believes in a check that does not happen.
    pub client_auth: ClientAuth,
    /// The oldest version that is accepted.
    pub min_version: TlsVersion,
}

impl TlsOptions {
    /// A certificate and its key, TLS 1.2 or later, clients without certificates.
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
