// SPDX-License-Identifier: Apache-2.0
//! [`CertificateFacts`]: what is told of a certificate.

/// The number of a certificate, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Its serial number, in hexadecimal digits.
    pub serial: String,
    /// When it ends, in unix seconds.
    pub ends_at: u64,
}

/// The certificates that an acceptor uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptorFacts {
    /// The server's own.
    pub server: Option<CertificateFacts>,
    /// The authority's that clients' certificates are checked against; of several, the one that ends first.
    pub authority: Option<CertificateFacts>,
}
