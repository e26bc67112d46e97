// SPDX-License-Identifier: Apache-2.0
//! [`Cluster`]: the nodes in force, and the file that they are read from again.
//!
//! A topology is replaced as a whole. Each worker notices at its next command or turn, by the version, and has
//! its own pointer to the topology, so that a command costs a load and no lock.

use super::Host;
use crate::cluster::identity::Identity;
use crate::cluster::node::Endpoint;
use crate::cluster::route::WhenDown;
use crate::cluster::{FILE_BYTES_MAX, Topology};
use crate::session::client::Client;
use parking_lot::{Mutex, RwLock};
use std::fs::{self, File};
use std::io::Read as _;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU64};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long another topology waits for the removal of keys that the last one has caused.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(10);

/// The state of the cluster, as far as this server has a part in it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) settings: ClusterSettings,
    /// Rises with each topology.
    version: AtomicU64,
    topology: RwLock<Arc<Topology>>,
    /// The version that each worker goes by.
    workers: Mutex<Vec<Weak<AtomicU64>>>,
    /// The removal of keys that are no longer this server's.
    pub(crate) removal: Mutex<Removal>,
    /// The version for which that has ended.
    removed: AtomicU64,
    /// When the file was last written and its size, as of its last reading.
    stamp: Mutex<Stamp>,
}

/// By what a change of the file is noticed; `None` while there is no file.
type Stamp = Option<(Option<SystemTime>, u64)>;

/// The parameters of clusters.
#[derive(Debug)]
pub(crate) struct ClusterSettings {
    /// `cluster-enabled`
    pub(crate) is_on: AtomicBool,
    /// `cluster-config-file`
    pub(crate) file: Mutex<Vec<u8>>,
    /// `cluster-announce-ip`, `cluster-announce-hostname`, `cluster-announce-human-nodename`
    pub(crate) announced: [Mutex<Vec<u8>>; 3],
    /// `cluster-announce-port`, `cluster-announce-tls-port`
    pub(crate) announced_ports: [AtomicU16; 2],
    /// `cluster-preferred-endpoint-type`, as an index
    pub(crate) endpoint: AtomicU8,
    /// `cluster-require-full-coverage`
    pub(crate) needs_all_slots: AtomicBool,
    /// `cluster-allow-reads-when-down`
    pub(crate) serves_reads_when_down: AtomicBool,
    /// `cluster-allow-pubsubshard-when-down`
    pub(crate) serves_channels_when_down: AtomicBool,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        ClusterSettings {
            is_on: AtomicBool::new(false),
            file: Mutex::new(b"nodes.conf".to_vec()),
            announced: Default::default(),
            announced_ports: Default::default(),
            endpoint: AtomicU8::new(0),
            needs_all_slots: AtomicBool::new(true),
            serves_reads_when_down: AtomicBool::new(false),
            serves_channels_when_down: AtomicBool::new(true),
        }
    }
}

/// How far the removal of keys is that are no longer this server's.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    /// The topology for which it was begun.
    pub(crate) begun: u64,
    /// Where the walk over the keys goes on.
    pub(crate) cursor: u64,
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            settings: ClusterSettings::default(),
            version: AtomicU64::new(0),
            topology: RwLock::new(Arc::new(Topology::empty())),
            workers: Mutex::default(),
            removal: Mutex::default(),
            removed: AtomicU64::new(0),
            stamp: Mutex::default(),
        }
    }
}

/// A worker's pointer to the topology.
#[derive(Debug)]
pub(crate) struct TopologyCopy {
    topology: Arc<Topology>,
    version: Arc<AtomicU64>,
}

impl TopologyCopy {
    /// The topology, as of now.
    #[inline]
    pub(crate) fn latest(&mut self, cluster: &Cluster) -> &Arc<Topology> {
        if cluster.version.load(Acquire) != self.version.load(Relaxed) {
            self.refresh(cluster);
        }
        &self.topology
    }

    #[cold]
    fn refresh(&mut self, cluster: &Cluster) {
        let topology = cluster.topology.read();
        // Under the lock, so that both belong together.
        self.version.store(cluster.version.load(Acquire), Release);
        self.topology = Arc::clone(&topology);
    }
}

impl Cluster {
    /// Whether this server is a node of a cluster.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.settings.is_on.load(Relaxed)
    }

    /// The version of the topology in force.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// A pointer to the topology for another worker.
    pub(crate) fn enter(&self) -> TopologyCopy {
        let topology = self.topology.read();
        let version = Arc::new(AtomicU64::new(self.version()));
        let mut workers = self.workers.lock();
        workers.retain(|worker| worker.strong_count() > 0);
        workers.push(Arc::downgrade(&version));
        TopologyCopy { topology: Arc::clone(&topology), version }
    }

    /// Whether all workers go by the topology in force: no command runs any more that was admitted by another.
    pub(crate) fn is_settled(&self, version: u64) -> bool {
        let workers = self.workers.lock();
        workers.iter().filter_map(Weak::upgrade).all(|seen| seen.load(Acquire) >= version)
    }

    /// Whether the keys that a version leaves to others are gone.
    #[inline]
    pub(crate) fn has_removed(&self, version: u64) -> bool {
        self.removed.load(Acquire) == version
    }

    /// Records that they are.
    pub(crate) fn note_removed(&self, version: u64) {
        self.removed.store(version, Release);
    }

    /// Waits until the keys are gone that the topology in force leaves to others, but not for ever.
    fn await_removal(&self) {
        let begun = Instant::now();
        while !self.has_removed(self.version()) {
            if begun.elapsed() > REMOVAL_PATIENCE {
                log::warn!(
                    "keys of slots that have left are still being removed; the nodes change nevertheless"
                );
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How clients are told where a node is.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self.settings.endpoint.load(Relaxed) {
            0 => Endpoint::Ip,
            1 => Endpoint::Hostname,
            _ => Endpoint::Unknown,
        }
    }

    /// What is served while some slots are not.
    pub(crate) fn when_down(&self) -> WhenDown {
        WhenDown {
            needs_all_slots: self.settings.needs_all_slots.load(Relaxed),
            serves_reads: self.settings.serves_reads_when_down.load(Relaxed),
            serves_channels: self.settings.serves_channels_when_down.load(Relaxed),
        }
    }

    /// Puts another topology in force.
    fn replace(&self, topology: Topology) {
        let mut present = self.topology.write();
        *present = Arc::new(topology);
        self.version.fetch_add(1, Release);
    }

    fn file(&self) -> String {
        String::from_utf8_lossy(&self.settings.file.lock()).into_owned()
    }
}

impl Host {
    /// The cluster that this server is a node of.
    #[inline]
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Whether this server is a node of a cluster (`cluster-enabled`).
    #[must_use]
    pub fn is_in_cluster(&self) -> bool {
        self.cluster.is_on()
    }

    /// Whether the file of nodes has been written or replaced since it was last read, whatever came of that.
    #[must_use]
    pub fn nodes_have_changed(&self) -> bool {
        stamp(&self.cluster.file()) != *self.cluster.stamp.lock()
    }

    /// Reads the file of nodes (`cluster-config-file`) and goes by it from now on. A server that is no node of it
    /// sends clients to the others. Waits up to ten seconds until keys are gone whose slots have left before.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is wrong, with its name. The nodes are those of before then.
    pub fn read_nodes(&self) -> Result<(), String> {
        let path = self.cluster.file();
        // Before the file is read, so that no later change is missed.
        *self.cluster.stamp.lock() = stamp(&path);
        let mut text = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text))
            .map_err(|error| format!("cannot read {path}: {error}"))?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(format!("{path}: the file is larger than {FILE_BYTES_MAX} bytes"));
        }
        // What was here of a slot that comes back is old: it goes before it can be read again.
        self.cluster.await_removal();
        self.set_nodes(&text).map_err(|problem| format!("{path}: {problem}"))
    }

    /// Puts the nodes of a text in force.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn set_nodes(&self, text: &[u8]) -> Result<(), String> {
        let mut topology = Topology::read(text)?;
        let is_known = topology.identify(&self.identity(), &self.startup.run_id);
        if !is_known {
            log::warn!("no node of {} is this server: it has no slots", self.cluster.file());
        }
        self.cluster.replace(topology);
        Ok(())
    }

    /// Whether a client uses TLS, as far as the port that it has connected to tells.
    pub(crate) fn uses_tls(&self, client: Option<&Client>) -> bool {
        let peer = client.and_then(|client| client.peer.as_ref());
        let port = peer
            .and_then(|peer| peer.local.rsplit_once(':'))
            .and_then(|(_, port)| port.parse().ok());
        let tls_port = self.value_of("tls-port").number();
        tls_port != 0 && port == Some(tls_port)
    }

    /// What this server knows of itself.
    fn identity(&self) -> Identity {
        let settings = &self.cluster.settings;
        let [ip, hostname, nodename] = settings
            .announced
            .each_ref()
            .map(|text| String::from_utf8_lossy(&text.lock()).into_owned());
        let port = |at: usize, own: &str| match settings.announced_ports[at].load(Relaxed) {
            0 => u16::try_from(self.value_of(own).number()).unwrap_or_default(),
            announced => announced,
        };
        let bind = self.value_of("bind");
        let listens = String::from_utf8_lossy(bind.text());
        Identity {
            ip,
            hostname,
            nodename,
            port: port(0, "port"),
            tls_port: port(1, "tls-port"),
            listens: listens
                .split(' ')
                .map(|address| address.trim_start_matches('-').into())
                .collect(),
        }
    }
}

fn stamp(path: &str) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}
