// SPDX-License-Identifier: Apache-2.0
//! `[tls]`: certificates.

use crate::Error;
use session::{PeerTls, TlsAcceptor, TlsOptions};
use std::path::PathBuf;

config::section! {
    /// Certificates. TLS is off unless both `certificate_chain` and `private_key` are named. All files are
    /// PEM and are read again on SIGHUP.
    pub struct Tls in "tls" {
        /// The server's certificate, then its intermediates.
        pub certificate_chain: Option<PathBuf> = None, example "/etc/shoebill/server.pem";
        /// The key of the first certificate: RSA of 2048 to 8192 bits, ECDSA P-256, P-384 or P-521, or
        /// Ed25519; not encrypted.
        pub private_key: Option<PathBuf> = None, example "/etc/shoebill/server.key";
        /// Authorities that client certificates are checked against; needs `client_auth`.
        pub ca_file: Option<PathBuf> = None, example "/etc/shoebill/clients-ca.pem";
        /// Whether clients must show a certificate; needs `ca_file`.
        pub client_auth: ClientAuth = ClientAuth::default();
        /// The oldest version that is spoken.
        pub min_version: TlsVersion = TlsVersion::default();
    }
}

config::choices! {
    /// Whether clients must show a certificate.
    #[derive(Default)]
    pub enum ClientAuth {
        /// They are not asked.
        #[default]
        None = "none",
        /// One that is shown must be good.
        Optional = "optional",
        /// Without a good one there is no session.
        Required = "required",
    }
}

config::choices! {
    /// A version of TLS.
    #[derive(Default)]
    pub enum TlsVersion {
        /// TLS 1.2.
        #[default]
        Tls12 = "1.2",
        /// TLS 1.3.
        Tls13 = "1.3",
    }
}

impl Tls {
    /// The files for TLS to other servers: they are trusted as clients are, and are shown what clients are shown.
    /// `None` without authorities.
    #[must_use]
    pub fn peers(&self) -> Option<PeerTls> {
        let own = self.certificate_chain.clone().zip(self.private_key.clone());
        self.ca_file.clone().map(|ca_file| PeerTls { ca_file, own })
    }

    /// Reads the files; `None` when TLS is off.
    pub(crate) fn acceptor(&self) -> Result<Option<TlsAcceptor>, Error> {
        let setting = |key, problem: &str| Error::Setting { key, problem: problem.to_owned() };
        let (chain, key) = match (&self.certificate_chain, &self.private_key) {
            (None, None) if self.client_auth != ClientAuth::None => {
                return Err(setting("[tls] client_auth", "needs a certificate_chain and a key"));
            }
            (None, None) => return Ok(None),
            (Some(chain), Some(key)) => (chain.clone(), key.clone()),
            (Some(_), None) => return Err(setting("[tls] private_key", "is missing")),
            (None, Some(_)) => return Err(setting("[tls] certificate_chain", "is missing")),
        };
        if self.client_auth != ClientAuth::None && self.ca_file.is_none() {
            return Err(setting("[tls] ca_file", "is missing, and client_auth needs it"));
        }
        let options = TlsOptions {
            certificate_chain: chain,
            private_key: key,
            ca_file: self.ca_file.clone(),
            client_auth: match self.client_auth {
                ClientAuth::None => session::ClientAuth::None,
                ClientAuth::Optional => session::ClientAuth::Optional,
                ClientAuth::Required => session::ClientAuth::Required,
            },
            min_version: match self.min_version {
                TlsVersion::Tls12 => session::TlsVersion::Tls12,
                TlsVersion::Tls13 => session::TlsVersion::Tls13,
            },
        };
        Ok(Some(TlsAcceptor::new(options)?))
    }
}
