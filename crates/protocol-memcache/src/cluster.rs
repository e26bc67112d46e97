// SPDX-License-Identifier: Apache-2.0
//! [`ClusterFile`]: which servers make up a cluster, for clients that ask one of them for all.
//!
//! The file has what clients are answered: a number, and a node for each word behind it, `host|address|port`. A client
//! asks every minute or so, and takes the nodes if the number has risen since.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// A larger file is not one of nodes.
const FILE_MAX: u64 = 64 << 10;

/// The nodes of a cluster.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The number that rises with each change.
    pub(crate) version: u64,
    /// The number and the nodes, a line each, as clients are answered.
    pub(crate) text: Box<[u8]>,
}

/// What is wrong with a file of nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Write a number into the first line, and raise it with each change.
    #[error("the first word is not a version, a number from 1 on")]
    NoVersion,
    /// Write `host|address|port`; the address may be empty.
    #[error("\"{}\" is no node: write host|address|port", .0.escape_debug())]
    NoNode(String),
    /// Add a node, or leave the file out.
    #[error("there is no node")]
    NoNodes,
    /// Raise the version, or clients will not notice that the nodes are others.
    #[error("the nodes have changed, and their version, {0}, is not higher than before")]
    NotRisen(u64),
    /// Shorten it.
    #[error("the file is larger than {FILE_MAX} bytes")]
    TooLong,
}

/// A file of nodes that is read again when it changes.
///
/// ```
/// use protocol_memcache::ClusterFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("nodes");
/// std::fs::write(&path, "1\none.example.com|10.0.0.1|11211 two.example.com|10.0.0.2|11211\n")?;
/// let cluster = ClusterFile::read(&path)?;
/// assert!(!cluster.has_changed());
/// std::fs::write(&path, "2\none.example.com|10.0.0.1|11211\n")?;
/// assert!(cluster.has_changed());
/// cluster.reread()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ClusterFile {
    path: PathBuf,
    cluster: RwLock<Arc<Cluster>>,
    stamp: Mutex<Stamp>,
}

/// By what a change is noticed; `None` while there is no file.
type Stamp = Option<(Option<SystemTime>, u64)>;

impl ClusterFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is no version with nodes. The error names it.
    pub fn read(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let stamp = Mutex::new(stamp(&path));
        let cluster = RwLock::new(Arc::new(cluster_in(&path)?));
        Ok(ClusterFile { path, cluster, stamp })
    }

    /// Whether it has been written or replaced since it was last read, whatever came of that.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        stamp(&self.path) != *self.stamp.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads it again.
    ///
    /// # Errors
    ///
    /// As [`ClusterFile::read`], and when the nodes are others and the version has not risen. The nodes are those of
    /// before then.
    pub fn reread(&self) -> io::Result<()> {
        // Before the file is read, so that no later change is missed.
        *self.stamp.lock().unwrap_or_else(PoisonError::into_inner) = stamp(&self.path);
        let (read, before) = (cluster_in(&self.path)?, self.cluster());
        if read.text != before.text && read.version <= before.version {
            return Err(named(&self.path, &ClusterError::NotRisen(read.version).into()));
        }
        *self.cluster.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(read);
        Ok(())
    }

    /// The nodes in force. Costs a lock that is held only while the pointer is exchanged.
    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        Arc::clone(&self.cluster.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Two are the same if they are the same file.
impl PartialEq for ClusterFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for ClusterFile {}

impl From<ClusterError> for io::Error {
    fn from(error: ClusterError) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl Cluster {
    /// Reads a version and nodes, with white space between them.
    fn parse(text: &str) -> Result<Self, ClusterError> {
        let mut words = text.split_ascii_whitespace();
        let version = words.next().and_then(|word| word.parse().ok());
        let version =
            version.filter(|&version: &u64| version > 0).ok_or(ClusterError::NoVersion)?;
        let nodes: Vec<&str> = words.collect();
        if let Some(wrong) = nodes.iter().find(|node| !is_node(node)) {
            return Err(ClusterError::NoNode(wrong.chars().take(100).collect()));
        }
        if nodes.is_empty() {
            return Err(ClusterError::NoNodes);
        }
        let text = format!("{version}\n{}\n", nodes.join(" "));
        Ok(Cluster { version, text: text.into_bytes().into() })
    }
}

/// `host|address|port`
fn is_node(word: &str) -> bool {
    let parts: Vec<&str> = word.split('|').collect();
    let [host, _, port] = parts[..] else { return false };
    let is_shown = word.bytes().all(|byte| byte.is_ascii_graphic());
    is_shown && !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}

fn cluster_in(path: &Path) -> io::Result<Cluster> {
    let read = || {
        let mut text = String::new();
        File::open(path)?.take(FILE_MAX + 1).read_to_string(&mut text)?;
        if text.len() as u64 > FILE_MAX {
            return Err(ClusterError::TooLong.into());
        }
        Ok(Cluster::parse(&text)?)
    };
    read().map_err(|error| named(path, &error))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_version_and_nodes() {
        let cluster = Cluster::parse("12\r\na.b|10.0.0.1|11211\n c||1 \n").unwrap();
        assert_eq!(cluster.version, 12);
        assert_eq!(*cluster.text, *b"12\na.b|10.0.0.1|11211 c||1\n");
        let refused = |text: &str| Cluster::parse(text).unwrap_err();
        for text in ["", "a|b|1", "0\na|b|1", "-1 a|b|1"] {
            assert_eq!(refused(text), ClusterError::NoVersion, "{text:?}");
        }
        assert_eq!(refused("1\n"), ClusterError::NoNodes);
        for node in
            ["a|b", "a|b|c", "a|b|0", "|b|1", "a|b|1|2", "a|b|65536", "\u{e9}|b|1", "a\0|b|1"]
        {
            let error = refused(&format!("1\n{node}"));
            assert_eq!(error, ClusterError::NoNode(node.to_owned()));
        }
    }

    #[test]
    fn other_nodes_need_a_higher_version() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, "2 a|b|1").unwrap();
        let cluster = ClusterFile::read(file.path()).unwrap();
        for (text, is_taken) in [
            ("2 a|b|1\n", true),
            ("2 a|b|2", false),
            ("1 a|b|1", false),
            ("3 a|b|2", true),
            ("3", false),
        ] {
            let before = cluster.cluster();
            fs::write(&file, text).unwrap();
            assert_eq!(cluster.reread().is_ok(), is_taken, "{text:?}");
            assert!(!cluster.has_changed(), "it was read, whatever came of it");
            assert!(is_taken || cluster.cluster() == before, "{text:?}");
        }
        fs::remove_file(file.path()).unwrap();
        assert!(cluster.has_changed());
        let error = cluster.reread().unwrap_err().to_string();
        assert!(error.starts_with(&file.path().display().to_string()), "{error}");
        assert!(!cluster.has_changed());
    }
}
