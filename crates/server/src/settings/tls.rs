// SPDX-License-Identifier: Apache-2.0
//! `[tls]`: certificates.

use crate::Error;
use serde::{Deserialize, Serialize};
use session::{TlsAcceptor, TlsOptions};
use std::path::PathBuf;

/// `[tls]`: off unless a certificate chain and a key are named. Read again on SIGHUP.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// PEM file with the server's certificate and its intermediates.
    pub certificate_chain: Option<PathBuf>,
    /// PEM file with the certificate's private key.
    pub private_key: Option<PathBuf>,
    /// PEM file with the authorities that client certificates are checked against.
    pub ca_file: Option<PathBuf>,
    /// Whether clients must show a certificate; needs `ca_file`.
    pub client_auth: ClientAuth,
    /// The oldest protocol version that is spoken.
    pub min_version: TlsVersion,
}

/// Whether clients must show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuth {
    /// They are not asked.
    #[default]
    None,
    /// One that is shown must be good.
    Optional,
    /// Without a good one there is no session.
    Required,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[default]
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

impl Tls {
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
