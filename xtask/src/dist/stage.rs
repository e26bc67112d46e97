// SPDX-License-Identifier: Apache-2.0
//! [`Stage`]: a folder that becomes an archive.

use super::tools::{Outcome, finish, gzip};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A folder in which a package is put together.
#[derive(Debug)]
pub(super) struct Stage {
    folder: PathBuf,
    epoch: u64,
}

impl Stage {
    /// An empty one.
    pub(super) fn new(folder: PathBuf, epoch: u64) -> Outcome<Self> {
        renew(&folder)?;
        Ok(Stage { folder, epoch })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts a file there that all may read.
    pub(super) fn file(&self, path: &str, bytes: impl AsRef<[u8]>) -> Outcome<()> {
        self.put(path, bytes.as_ref(), 0o644)
    }

    /// Puts a file there that all may run.
    pub(super) fn program(&self, path: &str, bytes: impl AsRef<[u8]>) -> Outcome<()> {
        self.put(path, bytes.as_ref(), 0o755)
    }

    /// Copies a file that is not the stage's, with links followed.
    pub(super) fn copy(&self, path: &str, from: &Path) -> Outcome<()> {
        let bytes = fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        let mode = if is_program(from) { 0o755 } else { 0o644 };
        self.put(path, &bytes, mode)
    }

    /// Puts a file there, compressed, as `path` and `.gz`.
    pub(super) fn compressed(&self, path: &str, bytes: impl AsRef<[u8]>) -> Outcome<()> {
        self.file(path, bytes)?;
        gzip(&self.folder.join(path))
    }

    fn put(&self, path: &str, bytes: &[u8], mode: u32) -> Outcome<()> {
        let path = self.folder.join(path);
        let put = || {
            fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            fs::write(&path, bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(mode))
        };
        put().map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Gives everything the same time and folders the same rights. Nothing may be put there afterwards.
    pub(super) fn seal(&self) -> Outcome<()> {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.epoch);
        seal(&self.folder, time).map_err(|error| format!("{}: {error}", self.folder.display()))
    }

    /// Writes what is in it as a tar archive.
    pub(super) fn archive(&self, path: &Path) -> Outcome<()> {
        self.seal()?;
        let mut tar = Command::new("tar");
        tar.args(["--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{}", self.epoch)).arg("-C").arg(&self.folder);
        tar.arg("-cf").arg(path).args(names(&self.folder)?);
        finish(&mut tar).map(|_| ())
    }
}

/// An empty folder in place of what is there.
pub(super) fn renew(folder: &Path) -> Outcome<()> {
    let renew = || {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)
    };
    renew().map_err(|error| format!("{}: {error}", folder.display()))
}

/// The names in a folder, sorted.
pub(super) fn names(folder: &Path) -> Outcome<Vec<String>> {
    let list = || {
        let entries = fs::read_dir(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect::<std::io::Result<Vec<_>>>()
    };
    let mut names = list().map_err(|error| format!("{}: {error}", folder.display()))?;
    names.sort_unstable();
    Ok(names)
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

fn seal(path: &Path, time: SystemTime) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            seal(&entry?.path(), time)?;
        }
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
    }
    File::open(path)?.set_modified(time)
}
