// SPDX-License-Identifier: Apache-2.0
//! Files that the server writes itself: ACL SAVE, CONFIG REWRITE.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Puts a new file in place of the old one, which is there until the new one is whole. It has the permissions of the old
/// one, and is behind the link that leads to that.
///
/// # Errors
///
/// What the system says. The old file is as it was, unless only the folder could not be written.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".tmp-{}", std::process::id()));
    let new = path.with_file_name(name);
    let done = write(&new, text, fs::metadata(path).ok().map(|old| old.permissions()))
        .and_then(|()| fs::rename(&new, path))
        .and_then(|()| sync_folder(path));
    if done.is_err() {
        // What is half written is of no use; that it cannot be removed is told by the error before.
        let _ = fs::remove_file(&new);
    }
    done
}

/// Writes a file that nobody else can read before it has its permissions.
fn write(path: &Path, text: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.set_permissions(permissions.unwrap_or_else(|| Permissions::from_mode(0o644)))?;
    file.write_all(text)?;
    file.sync_all()
}

/// Makes the name last beyond a power failure.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
