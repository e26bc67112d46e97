// SPDX-License-Identifier: Apache-2.0
//! A certificate authority for the test, and the files that a server reads.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use server::{ClientAuth, TlsOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The host that server certificates are for.
const HOST: &str = "localhost";

/// A certificate authority, and a folder with `server.pem`, `server.key` and `ca.pem` that it issued.
pub struct Certificates {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    folder: PathBuf,
}

impl Certificates {
    /// Writes the files into `folder`.
    pub fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        fs::write(folder.join("ca.pem"), root.pem()).unwrap();
        let root = root.der().clone();
        let issuer = Issuer::new(params, key);
        let certificates = Certificates { issuer, root, folder: folder.to_owned() };
        certificates.renew();
        certificates
    }

    /// Replaces the server's certificate and key; returns the certificate.
    pub fn renew(&self) -> CertificateDer<'static> {
        let (certificate, key) = self.issue(HOST);
        fs::write(self.path("server.pem"), &certificate).unwrap();
        fs::write(self.path("server.key"), &key).unwrap();
        CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()
    }

    /// A certificate for `name` and its key, as PEM.
    fn issue(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The path of one of the files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The TLS options of a server, which asks clients for certificates if `ask`.
    pub fn options(&self, ask: bool) -> TlsOptions {
        let options = TlsOptions::new(self.path("server.pem"), self.path("server.key"));
        if !ask {
            return options;
        }
        let ca_file = Some(self.path("ca.pem"));
        TlsOptions { ca_file, client_auth: ClientAuth::Required, ..options }
    }

    /// A client's end of a connection that speaks `version` only, with a certificate if `show`.
    pub fn client(
        &self,
        version: &'static SupportedProtocolVersion,
        show: bool,
    ) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots);
        let config = if show {
            let (certificate, key) = self.issue("client");
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        } else {
            builder.with_no_client_auth()
        };
        let name = ServerName::try_from(HOST).unwrap();
        ClientConnection::new(Arc::new(config), name).unwrap()
    }
}
