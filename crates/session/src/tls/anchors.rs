// SPDX-License-Identifier: Apache-2.0
//! A certificate that is itself in the CA file is trusted as it is, as OpenSSL trusts it: the smallest setup is one
//! certificate that its owner has signed.
//!
//! webpki refuses it if it is that of an authority, which those of `openssl req -x509` are. To accept it opens nothing:
//! whoever has its key can issue itself any other certificate. It is for what its extended key usage lists, as any other;
//! the key usage, at which OpenSSL looks too, nobody asks about, as webpki does not.

use super::config::{roots, unusable};
use super::x509;
use crate::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error as TlsError, SignatureScheme,
};
use std::path::Path;
use std::sync::Arc;

/// How webpki refuses the certificate of an authority as that of a peer; rustls has no name of its own for it. webpki
/// has looked at the validity by then, but not at the extended key usage and the issuer.
const AUTHORITY_AS_PEER: &str = "CaUsedAsEndEntity";

/// The certificates of a CA file.
#[derive(Debug)]
struct Anchors(Vec<CertificateDer<'static>>);

impl Anchors {
    /// What is left of webpki's `refusal` of a certificate: nothing, if it is one of these, was refused only because it
    /// is an authority's, and is for this purpose.
    fn reconsider(
        &self,
        refusal: TlsError,
        certificate: &CertificateDer<'_>,
        purpose: &[u8],
    ) -> Result<(), TlsError> {
        let is_of_authority = matches!(&refusal,
            TlsError::InvalidCertificate(CertificateError::Other(reason))
                if reason.to_string() == AUTHORITY_AS_PEER);
        if !is_of_authority {
            return Err(refusal);
        }
        if self.0.iter().any(|anchor| anchor.as_ref() == certificate.as_ref()) {
            let is_for_it = x509::is_for(certificate, purpose) == Some(true);
            return if is_for_it { Ok(()) } else { Err(CertificateError::InvalidPurpose.into()) };
        }
        // That nobody vouches for it is what an operator can do something about.
        let is_self_signed =
            x509::names(certificate).is_some_and(|[issuer, subject]| issuer == subject);
        Err(if is_self_signed { CertificateError::UnknownIssuer.into() } else { refusal })
    }
}

/// Trusts clients whose certificate is an anchor, and those that webpki trusts. Either way they have to prove that they
/// have its key.
#[derive(Debug)]
pub(super) struct ClientVerifier {
    strict: Arc<dyn ClientCertVerifier>,
    anchors: Anchors,
}

impl ClientVerifier {
    /// Trusts the certificates of the CA file `path`; clients need not show one if `is_optional`.
    pub(super) fn new(
        path: &Path,
        anchors: Vec<CertificateDer<'static>>,
        is_optional: bool,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let roots = Arc::new(roots(path, anchors.clone())?);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, provider);
        let builder = if is_optional { builder.allow_unauthenticated() } else { builder };
        let strict = builder.build().map_err(|error| unusable(path, &error))?;
        Ok(ClientVerifier { strict, anchors: Anchors(anchors) })
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn offer_client_auth(&self) -> bool {
        self.strict.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.strict.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.strict.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.strict.verify_client_cert(end_entity, intermediates, now).or_else(|refusal| {
            self.anchors.reconsider(refusal, end_entity, x509::CLIENT_AUTH)?;
            Ok(ClientCertVerified::assertion())
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.strict.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.strict.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}

/// The same for servers, whose certificate must also be for the requested name.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    strict: Arc<WebPkiServerVerifier>,
    anchors: Anchors,
}

impl ServerVerifier {
    /// Trusts the certificates of the CA file `path`.
    pub(super) fn new(
        path: &Path,
        anchors: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let roots = Arc::new(roots(path, anchors.clone())?);
        let strict = WebPkiServerVerifier::builder_with_provider(roots, provider)
            .build()
            .map_err(|error| unusable(path, &error))?;
        Ok(ServerVerifier { strict, anchors: Anchors(anchors) })
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let strict = &self.strict;
        strict
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .or_else(|refusal| {
                self.anchors.reconsider(refusal, end_entity, x509::SERVER_AUTH)?;
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.strict.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.strict.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}
