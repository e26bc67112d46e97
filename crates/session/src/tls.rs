// SPDX-License-Identifier: Apache-2.0
//! TLS by rustls with the aws-lc-rs provider. No type of rustls is named outside of this module.

mod acceptor;
mod config;
mod connection;
mod connector;
mod options;

pub use acceptor::TlsAcceptor;
pub(crate) use connection::TlsConnection;
pub use connection::is_not_tls;
pub use connector::{TlsConnector, Trust};
pub use options::{ClientAuth, TlsOptions, TlsVersion};
