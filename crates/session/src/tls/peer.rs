// SPDX-License-Identifier: Apache-2.0
//! [`PeerTls::connect`]: TLS to another server over a socket that blocks.

use super::anchors::ServerVerifier;
use super::config::{CA, CHAIN, KEY, certificates, private_key};
use crate::{Error, PeerStream, PeerTls};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme,
    StreamOwned,
};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

impl PeerTls {
    /// Performs the handshake with the server at the other end of `stream`, which is known as `host`. Its certificate must
    /// be one of the authority's, or be in its file itself, whatever name it is for. Waits as long as the timeouts of
    /// `stream` allow.
    ///
    /// # Errors
    ///
    /// A file that cannot be used, or the handshake.
    pub fn connect(&self, mut stream: TcpStream, host: &str) -> Result<Box<dyn PeerStream>, Error> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Error::Tls {
            reason: format!("`{host}` is neither a host name nor an IP address"),
        })?;
        let failed = |error: &dyn std::fmt::Display| Error::Tls { reason: error.to_string() };
        let mut client = ClientConnection::new(Arc::new(self.config()?), name)
            .map_err(|error| Error::tls(&error))?;
        while client.is_handshaking() {
            client.complete_io(&mut stream).map_err(|error| failed(&error))?;
        }
        Ok(Box::new(Stream(StreamOwned::new(client, stream))))
    }

    fn config(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let anchors = certificates(&self.ca_file, CA)?;
        let strict = ServerVerifier::new(&self.ca_file, anchors, provider.clone())?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| Error::tls(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Nameless { strict }));
        let Some((chain, key)) = &self.own else { return Ok(builder.with_no_client_auth()) };
        builder.with_client_auth_cert(certificates(chain, CHAIN)?, private_key(key)?).map_err(
            |error| Error::Certificate {
                path: chain.clone(),
                role: KEY,
                reason: error.to_string(),
            },
        )
    }
}

/// An encrypted connection.
#[derive(Debug)]
struct Stream(StreamOwned<ClientConnection, TcpStream>);

impl PeerStream for Stream {}

impl Read for Stream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Trusts what the authority has issued and what is in its file, whatever name it is for. Servers are reached by
/// addresses, which their certificates seldom name.
#[derive(Debug)]
struct Nameless {
    strict: ServerVerifier,
}

impl ServerCertVerifier for Nameless {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.strict.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The name is looked at last: all else is right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.strict.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.strict.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}
