// SPDX-License-Identifier: Apache-2.0
//! [`UserFile`]: users in a file that is read again while the server runs.

use super::Users;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// A larger file is not one of users.
const FILE_MAX: u64 = 1 << 20;

/// The users of a file.
///
/// Each worker takes the users that are in force when somebody logs in. Who has logged in stays so when the file
/// changes.
#[derive(Debug)]
pub struct UserFile {
    path: PathBuf,
    users: RwLock<Arc<Users>>,
}

impl UserFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or a line of it is no user.
    pub fn read(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let users = RwLock::new(Arc::new(users_in(&path)?));
        Ok(UserFile { path, users })
    }

    /// Reads the file again.
    ///
    /// # Errors
    ///
    /// As [`UserFile::read`]; the users are those of before then.
    pub fn reread(&self) -> io::Result<()> {
        let users = Arc::new(users_in(&self.path)?);
        *self.users.write().unwrap_or_else(PoisonError::into_inner) = users;
        Ok(())
    }

    /// The users in force. Costs a lock that is held only while the pointer is exchanged.
    #[must_use]
    pub fn users(&self) -> Arc<Users> {
        Arc::clone(&self.users.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Two are the same if they are the same file.
impl PartialEq for UserFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for UserFile {}

/// The error names the file.
fn users_in(path: &Path) -> io::Result<Users> {
    let read = || {
        let mut text = Vec::new();
        File::open(path)?.take(FILE_MAX).read_to_end(&mut text)?;
        Users::parse(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    };
    read().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
