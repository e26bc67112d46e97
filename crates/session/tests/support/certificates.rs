// SPDX-License-Identifier: Apache-2.0
//! Certificate authorities made for one test.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use session::TlsOptions;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An authority that issues certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate and its key.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// An authority whose certificate this one issues.
    pub fn intermediate(&self, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.signed_by(&key, &self.issuer).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for `name`.
    pub fn issue(&self, name: &str) -> Identity {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate, key: key.serialize_pem() }
    }

    pub fn certificate(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()
    }
}

impl Identity {
    /// A certificate for `name` that it has signed itself, of an authority as `openssl req -x509` makes it, valid for
    /// these years.
    pub fn self_signed(name: &str, years: Range<i32>) -> Self {
        Self::self_signed_for(name, years, Vec::new())
    }

    /// The same for these purposes only, if there are any.
    pub fn self_signed_for(
        name: &str,
        years: Range<i32>,
        purposes: Vec<ExtendedKeyUsagePurpose>,
    ) -> Self {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.extended_key_usages = purposes;
        params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
        let key = KeyPair::generate().unwrap();
        Identity { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
    }

    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()]
    }

    pub fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }
}

/// A server's files in a folder of their own.
pub struct Files {
    folder: TempDir,
    pub authority: Authority,
}

impl Files {
    /// A server certificate for `localhost` and the CA that issued it.
    pub fn new() -> Self {
        let files = Files { folder: TempDir::new().unwrap(), authority: Authority::new("ours") };
        files.renew();
        files.write("ca.pem", &files.authority.pem);
        files
    }

    /// Replaces certificate and key by new ones of the same authority.
    pub fn renew(&self) -> Identity {
        let server = self.authority.issue("localhost");
        self.write("server.pem", &server.certificate);
        self.write("server.key", &server.key);
        server
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn options(&self) -> TlsOptions {
        TlsOptions::new(self.path("server.pem"), self.path("server.key"))
    }
}

/// The file's name alone.
pub fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}
