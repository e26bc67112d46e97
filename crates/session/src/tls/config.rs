// SPDX-License-Identifier: Apache-2.0
//! Makes rustls's configuration from files. Every error names its file.

use super::anchors::ClientVerifier;
use super::x509;
use crate::{AcceptorFacts, ClientAuth, Error, TlsOptions, TlsVersion};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerSessionMemoryCache;
use rustls::server::danger::ClientCertVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

pub(super) const CHAIN: &str = "certificate";
pub(super) const KEY: &str = "private key";
pub(super) const CA: &str = "CA certificate";

/// Number of resumable TLS 1.2 sessions that are kept for clients without ticket support.
const SESSION_CACHE_ENTRIES: usize = 1024;

/// Size limit of a file in bytes. The certificates of all public authorities together take a
/// twentieth of it.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Reads the files that `options` names and makes a configuration of them. Tells of the certificates in them.
pub(super) fn server_config(options: &TlsOptions) -> Result<(ServerConfig, AcceptorFacts), Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let chain = certificates(&options.certificate_chain, CHAIN)?;
    let key = private_key(&options.private_key)?;
    check_key(&key, &provider, options)?;
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions(options.min_version))
        .map_err(|error| Error::tls(&error))?;
    let authorities = authorities(options)?;
    let chain = completed(chain, authorities.as_deref().unwrap_or_default());
    let ends = authorities.iter().flatten().filter_map(|certificate| x509::facts(certificate));
    let facts = AcceptorFacts {
        server: chain.first().and_then(|certificate| x509::facts(certificate)),
        authority: ends.min_by_key(|facts| facts.ends_at),
    };
    let builder = match authorities {
        Some(authorities) => {
            builder.with_client_cert_verifier(client_verifier(options, authorities, provider)?)
        }
        None => builder.with_no_client_auth(),
    };
    let mut config =
        builder.with_single_cert(chain, key).map_err(|error| pair_error(&error, options))?;
    // Tickets are encrypted with keys that only this configuration knows and that rotate every six
    // hours; no state is kept for them. The cache is for clients that know only session ids.
    config.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| Error::tls(&error))?;
    config.session_storage = ServerSessionMemoryCache::new(SESSION_CACHE_ENTRIES);
    Ok((config, facts))
}

fn versions(oldest: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    static NEWEST_FIRST: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
    match oldest {
        TlsVersion::Tls12 => &NEWEST_FIRST,
        TlsVersion::Tls13 => &NEWEST_FIRST[..1],
    }
}

fn read(path: &Path, role: &'static str) -> Result<Vec<u8>, Error> {
    let read = || {
        let mut bytes = Vec::new();
        // Limited because the path may be that of a device that never ends.
        File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 4 MiB"));
        }
        Ok(bytes)
    };
    read().map_err(|source| Error::Read { path: path.to_owned(), role, source })
}

fn pem_error(path: &Path, role: &'static str, error: &pem::Error) -> Error {
    Error::Pem { path: path.to_owned(), role, reason: error.to_string() }
}

/// All certificates in a file, at least one.
pub(super) fn certificates(
    path: &Path,
    role: &'static str,
) -> Result<Vec<CertificateDer<'static>>, Error> {
    let text = read(path, role)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| pem_error(path, role, &error))?;
    if certificates.is_empty() {
        let expected = "PEM with at least one \"BEGIN CERTIFICATE\" section";
        return Err(Error::Missing { path: path.to_owned(), role, expected });
    }
    Ok(certificates)
}

pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let text = read(path, KEY)?;
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound if is_encrypted(&text) => {
            Error::EncryptedKey { path: path.to_owned() }
        }
        pem::Error::NoItemsFound => Error::Missing {
            path: path.to_owned(),
            role: KEY,
            expected: "PEM with a \"BEGIN PRIVATE KEY\", \"BEGIN RSA PRIVATE KEY\" or \
                       \"BEGIN EC PRIVATE KEY\" section",
        },
        error => pem_error(path, KEY, &error),
    })?;
    Ok(rightly_named(key))
}

/// A key of the kind that its content is: keys of PKCS #8 are also found under the names of older kinds, where OpenSSL takes them.
fn rightly_named(key: PrivateKeyDer<'static>) -> PrivateKeyDer<'static> {
    PrivateKeyDer::try_from(key.secret_der().to_vec()).unwrap_or(key)
}

fn is_encrypted(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("BEGIN ENCRYPTED PRIVATE KEY")
}

/// Distinguishes a key that is itself unusable from one that does not match its certificate.
fn check_key(
    key: &PrivateKeyDer<'static>,
    provider: &CryptoProvider,
    options: &TlsOptions,
) -> Result<(), Error> {
    match provider.key_provider.load_private_key(key.clone_key()) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Error::Key { path: options.private_key.clone(), reason: error.to_string() })
        }
    }
}

/// Why a certificate and a key, each readable, do not make a pair.
fn pair_error(error: &rustls::Error, options: &TlsOptions) -> Error {
    match error {
        rustls::Error::InconsistentKeys(_) => Error::KeyMismatch {
            key: options.private_key.clone(),
            certificate: options.certificate_chain.clone(),
        },
        error => Error::Certificate {
            path: options.certificate_chain.clone(),
            role: CHAIN,
            reason: error.to_string(),
        },
    }
}

/// The longest chain that is made of certificates of several files.
const CHAIN_MAX: usize = 8;

/// A chain with the issuers of its last certificate behind it, as far as they are among the authorities and have issuers
/// themselves: clients that trust only the root need them. OpenSSL takes them from there, too.
fn completed(
    mut chain: Vec<CertificateDer<'static>>,
    authorities: &[CertificateDer<'static>],
) -> Vec<CertificateDer<'static>> {
    let is_intermediate = |certificate: &CertificateDer<'_>, name: &[u8]| {
        x509::names(certificate).is_some_and(|[issuer, subject]| subject == name && issuer != name)
    };
    while chain.len() < CHAIN_MAX
        && let Some([issuer, _]) = chain.last().and_then(|last| x509::names(last))
        && let Some(next) = authorities.iter().find(|next| is_intermediate(next, issuer))
        && !chain.contains(next)
    {
        let next = next.clone();
        chain.push(next);
    }
    chain
}

/// The authorities of client certificates, if these are asked for.
fn authorities(options: &TlsOptions) -> Result<Option<Vec<CertificateDer<'static>>>, Error> {
    match (&options.ca_file, options.client_auth) {
        (None, ClientAuth::None) => Ok(None),
        (None, _) => Err(Error::CaFileMissing),
        (Some(path), ClientAuth::None) => Err(Error::CaFileUnused { path: path.clone() }),
        (Some(path), _) => certificates(path, CA).map(Some),
    }
}

/// The verifier of client certificates: they must be of an authority, or be in its file themselves.
fn client_verifier(
    options: &TlsOptions,
    authorities: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    let path = options.ca_file.as_deref().unwrap_or(Path::new(""));
    let is_optional = match options.client_auth {
        ClientAuth::Optional => true,
        ClientAuth::None | ClientAuth::Required => false,
    };
    Ok(Arc::new(ClientVerifier::new(path, authorities, is_optional, provider)?))
}

/// The authorities of a file as roots of trust.
pub(super) fn roots(
    path: &Path,
    authorities: Vec<CertificateDer<'static>>,
) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in authorities {
        roots.add(certificate).map_err(|error| unusable(path, &error))?;
    }
    Ok(roots)
}

/// That the authorities of a file cannot be used.
pub(super) fn unusable(path: &Path, reason: &impl std::fmt::Display) -> Error {
    Error::Certificate { path: path.to_owned(), role: CA, reason: reason.to_string() }
}
