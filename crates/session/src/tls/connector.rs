// SPDX-License-Identifier: Apache-2.0
//! [`TlsConnector`]: what the client's side of a handshake needs, for load generators and tests.

use super::anchors::ServerVerifier;
use super::config::{CA, CHAIN, KEY, certificates, private_key};
use crate::Error;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which certificates a client trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Certificates for the requested name whose chain leads to a certificate in this PEM file, or that are in it.
    CaFile(PathBuf),
    /// Every certificate. The connection is encrypted, but the peer is not authenticated: for
    /// measurements only.
    Anybody,
}

/// What the client's side of a TLS handshake needs. Clones share it, including the cache of
/// resumable sessions.
#[derive(Clone)]
pub struct TlsConnector {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsConnector {
    /// A client that shows no certificate, for the server `name`, a host name or an IP address.
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the file and what is wrong with it, or the invalid name.
    pub fn new(name: &str, trust: &Trust) -> Result<Self, Error> {
        TlsConnector::make(name, trust, None)
    }

    /// A client that shows the first certificate of the PEM file `chain`; `key` is its private key.
    ///
    /// # Errors
    ///
    /// As [`TlsConnector::new`].
    pub fn with_certificate(
        name: &str,
        trust: &Trust,
        chain: &Path,
        key: &Path,
    ) -> Result<Self, Error> {
        TlsConnector::make(name, trust, Some((chain, key)))
    }

    /// The same client without session resumption: every handshake is a full one.
    #[must_use]
    pub fn without_resumption(self) -> Self {
        let mut config = Arc::unwrap_or_clone(self.config);
        config.resumption = Resumption::disabled();
        TlsConnector { config: Arc::new(config), name: self.name }
    }

    fn make(name: &str, trust: &Trust, own: Option<(&Path, &Path)>) -> Result<Self, Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let server = ServerName::try_from(name.to_owned()).map_err(|_| Error::Tls {
            reason: format!("`{name}` is neither a host name nor an IP address"),
        })?;
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| Error::tls(&error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier(trust, provider)?);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder
                .with_client_auth_cert(certificates(chain, CHAIN)?, private_key(key)?)
                .map_err(|error| Error::Certificate {
                    path: chain.to_owned(),
                    role: KEY,
                    reason: error.to_string(),
                })?,
        };
        Ok(TlsConnector { config: Arc::new(config), name: server })
    }

    pub(crate) fn parts(&self) -> (Arc<ClientConfig>, ServerName<'static>) {
        (self.config.clone(), self.name.clone())
    }
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConnector").field("name", &self.name).finish_non_exhaustive()
    }
}

fn verifier(
    trust: &Trust,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let path = match trust {
        Trust::Anybody => return Ok(Arc::new(Credulous { provider })),
        Trust::CaFile(path) => path,
    };
    Ok(Arc::new(ServerVerifier::new(path, certificates(path, CA)?, provider)?))
}

/// Trusts every certificate. It still checks that the peer has the certificate's key.
#[derive(Debug)]
struct Credulous {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Credulous {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
