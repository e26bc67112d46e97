// SPDX-License-Identifier: Apache-2.0
//! TLS by rustls with the aws-lc-rs provider. No type of rustls is named outside of this module. A build
//! without the feature `tls` has `no_tls.rs` in its place.

mod acceptor;
mod anchors;
mod config;
mod connection;
mod connector;
mod peer;
mod records;
mod stats;
mod wire;
mod x509;

pub use acceptor::TlsAcceptor;
pub(crate) use connection::TlsConnection;
pub use connection::is_not_tls;
pub use connector::{TlsConnector, Trust};
pub use stats::METRICS as TLS_METRICS;
