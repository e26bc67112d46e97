// SPDX-License-Identifier: Apache-2.0
//! [`Error`]: errors in the files that a TLS acceptor is made from.

use std::io;
use std::path::PathBuf;

/// Why a [`TlsAcceptor`](crate::TlsAcceptor) or a TLS session cannot be made. Each message names the file to
/// repair and what was expected in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot read the {role}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What it was to hold.
        role: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not well-formed PEM.
    #[error("{}: the {role} is not valid PEM: {reason}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it was to hold.
        role: &'static str,
        /// The parser's words.
        reason: String,
    },
    /// The file has no section of the kind that was looked for.
    #[error("{}: no {role} in this file: expected {expected}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What it was to hold.
        role: &'static str,
        /// The PEM sections that would do.
        expected: &'static str,
    },
    /// The private key is protected by a passphrase.
    #[error("{}: the private key is encrypted: decrypt it first, for example with \
             `openssl pkey -in {0} -out server.key`", path.display())]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// The private key cannot be used.
    #[error("{}: unusable private key: {reason} (expected RSA of 2048 to 8192 bits, \
             ECDSA P-256, P-384 or P-521, or Ed25519)", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A certificate cannot be used.
    #[error("{}: unusable {role}: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What the certificate is for.
        role: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The private key belongs to another certificate.
    #[error("{}: the private key does not match the first certificate in {}",
            key.display(), certificate.display())]
    KeyMismatch {
        /// The file of the private key.
        key: PathBuf,
        /// The file of the certificate chain.
        certificate: PathBuf,
    },
    /// Client certificates are asked for, but no CA file says which to trust.
    #[error("client certificates cannot be verified: client_auth needs a ca_file")]
    CaFileMissing,
    /// A CA file is given, but client certificates are not asked for.
    #[error("{}: this ca_file would verify nobody: set client_auth to optional or required, \
             or leave ca_file out", path.display())]
    CaFileUnused {
        /// The file.
        path: PathBuf,
    },
    /// This build is without the feature `tls`.
    #[error(
        "this program was built without TLS: name no certificate, or build it with the feature `tls`"
    )]
    BuiltWithout,
    /// rustls refuses for a reason that concerns no file.
    #[error("TLS: {reason}")]
    Tls {
        /// The message of rustls.
        reason: String,
    },
}

#[cfg(feature = "tls")]
impl Error {
    pub(crate) fn tls(error: &rustls::Error) -> Self {
        Error::Tls { reason: error.to_string() }
    }
}
