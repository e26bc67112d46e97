// SPDX-License-Identifier: Apache-2.0
//! [`ServiceOptions`]: facts about the server in which a service runs.

use crate::cluster::ClusterFile;
use crate::parse::Forms;
use crate::users::UserFile;
use std::sync::Arc;
use std::time::Duration;

/// Facts about the server, which `stats settings` shows.
///
/// Only `item_max`, `flush`, `shutdown`, `dump`, `watch`, `prefix_delimiter`, `detail`, `users` and `cluster` change the
/// behaviour of the service. The others are only shown to clients, and should be true.
///
/// ```
/// use protocol_memcache::ServiceOptions;
///
/// let options = ServiceOptions::new().version("1.0.0").threads(8);
/// assert_eq!(options.item_max, 1 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// The largest item in bytes that `append` and `prepend` may produce, counted as [`Memcache::new`](crate::Memcache::new) says; 1 MiB unless
    /// set. The codec must be given the same limit.
    pub item_max: usize,
    /// What `version` answers.
    pub version: String,
    /// The server's own name and version, which `stats` tells.
    pub software: String,
    /// Threads that serve requests.
    pub threads: usize,
    /// The most connections at a time; 0 is no limit.
    pub connections_max: usize,
    /// The TCP port; 0 is none.
    pub port: u16,
    /// The UDP port; 0 is none.
    pub udp_port: u16,
    /// The address listened on.
    pub listen: String,
    /// The path of the unix socket, if there is one.
    pub socket_path: Option<String>,
    /// The listen queue's length.
    pub backlog: u32,
    /// After how long without a request a connection is closed; zero is never.
    pub idle_timeout: Duration,
    /// Whether items are evicted to make room.
    pub evictions: bool,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// Which forms of the protocol are spoken.
    pub forms: Forms,
    /// Whether clients may make all items unreadable.
    pub flush: bool,
    /// Whether clients may stop the server.
    pub shutdown: bool,
    /// Whether clients may list the items.
    pub dump: bool,
    /// Whether clients may watch what happens in the server.
    pub watch: bool,
    /// What ends the prefix of a key, by which `stats detail` counts.
    pub prefix_delimiter: u8,
    /// Whether requests are counted by prefix from the start.
    pub detail: bool,
    /// Requests that a connection is served before others have their turn.
    pub requests_per_turn: usize,
    /// Permission bits of unix sockets.
    pub socket_mode: u32,
    /// What TLS is configured with.
    pub tls_files: TlsFiles,
    /// Who may log in, if clients must. The codec must demand it.
    pub users: Option<Arc<UserFile>>,
    /// Where the servers of the cluster are named, if clients may ask for them.
    pub cluster: Option<Arc<ClusterFile>>,
}

/// What TLS is configured with, in memcached's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The file of the certificate chain.
    pub chain: Option<String>,
    /// The file of the private key.
    pub key: Option<String>,
    /// The file of the authorities that may sign clients' certificates.
    pub ca: Option<String>,
    /// What is asked of clients: 0 nothing, 1 or 3 a certificate if they have one, 2 a certificate.
    pub verify_mode: u8,
    /// The lowest version: `tlsv1.2`, `tlsv1.3`.
    pub version_min: &'static str,
}

impl Default for TlsFiles {
    fn default() -> Self {
        TlsFiles { chain: None, key: None, ca: None, verify_mode: 0, version_min: "tlsv1.2" }
    }
}

impl Default for ServiceOptions {
    fn default() -> Self {
        ServiceOptions {
            item_max: 1 << 20,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            software: concat!("shoebill ", env!("CARGO_PKG_VERSION")).to_owned(),
            threads: 1,
            connections_max: 0,
            port: 0,
            udp_port: 0,
            listen: String::new(),
            socket_path: None,
            backlog: 1024,
            idle_timeout: Duration::ZERO,
            evictions: true,
            tls: false,
            forms: Forms::Auto,
            flush: true,
            shutdown: false,
            dump: true,
            watch: true,
            prefix_delimiter: b':',
            detail: false,
            requests_per_turn: 0,
            socket_mode: 0o700,
            tls_files: TlsFiles::default(),
            users: None,
            cluster: None,
        }
    }
}

/// Makes a setter for each field of a plain type.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty),* $(,)?) => {
        impl ServiceOptions {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets the largest item in bytes.
    item_max: usize,
    /// Sets the number of threads that serve requests.
    threads: usize,
    /// Sets the most connections at a time.
    connections_max: usize,
    /// Sets the TCP port.
    port: u16,
    /// Sets the UDP port.
    udp_port: u16,
    /// Sets the listen queue's length.
    backlog: u32,
    /// Sets after how long without a request a connection is closed.
    idle_timeout: Duration,
    /// Sets whether items are evicted to make room.
    evictions: bool,
    /// Sets whether connections are encrypted.
    tls: bool,
    /// Sets which forms of the protocol are spoken.
    forms: Forms,
    /// Sets whether clients may make all items unreadable.
    flush: bool,
    /// Sets whether clients may stop the server.
    shutdown: bool,
    /// Sets whether clients may list the items.
    dump: bool,
    /// Sets whether clients may watch what happens in the server.
    watch: bool,
    /// Sets what ends the prefix of a key, by which `stats detail` counts.
    prefix_delimiter: u8,
    /// Sets whether requests are counted by prefix from the start.
    detail: bool,
    /// Sets how many requests a connection is served before others have their turn.
    requests_per_turn: usize,
    /// Sets the permission bits of unix sockets.
    socket_mode: u32,
    /// Sets what TLS is configured with.
    tls_files: TlsFiles,
}

impl ServiceOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the server's own name and version, which `stats` tells.
    #[must_use]
    pub fn software(mut self, software: impl Into<String>) -> Self {
        self.software = software.into();
        self
    }

    /// Sets what `version` answers.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the address listened on.
    #[must_use]
    pub fn listen(mut self, listen: impl Into<String>) -> Self {
        self.listen = listen.into();
        self
    }

    /// Sets the path of the unix socket.
    #[must_use]
    pub fn socket_path(mut self, path: impl Into<String>) -> Self {
        self.socket_path = Some(path.into());
        self
    }

    /// Lets clients ask for the servers of this cluster.
    #[must_use]
    pub fn cluster(mut self, cluster: Arc<ClusterFile>) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Makes clients log in as one of these users.
    #[must_use]
    pub fn users(mut self, users: Arc<UserFile>) -> Self {
        self.users = Some(users);
        self
    }
}
