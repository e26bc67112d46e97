// SPDX-License-Identifier: Apache-2.0
//! `[admin]`: metrics, health and configuration over HTTP.

use std::net::IpAddr;

config::section! {
    /// Metrics, health and configuration over HTTP. There is no password and no TLS: keep it on a private
    /// address.
    pub struct Admin in "admin" {
        /// Whether to serve it.
        pub enabled: bool = true;
        /// Where to listen.
        pub host: IpAddr = IpAddr::from([127, 0, 0, 1]);
        /// The TCP port; 0 lets the system choose. Two servers on one machine need different ones.
        pub port: u16 = 9999;
    }
}
