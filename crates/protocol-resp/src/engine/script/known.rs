// SPDX-License-Identifier: Apache-2.0
//! [`Known`]: scripts that this thread has run. They are found by their text without its SHA-1, and without a look
//! into the cache that all workers share, as long as nothing was removed from that.

use crate::host::scripts::{CachedScript, Scripts, Sha};
use script::Compiled;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use values::hash_of;

/// The most names that are kept: a script has two, its text and its digest.
const NAMES_MAX: usize = 2000;

/// A script in the cache, and what the VM of this thread has made of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) sha: Sha,
    pub(crate) source: Arc<CachedScript>,
    pub(super) compiled: Cell<Option<Compiled>>,
}

/// What a request calls a script.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScriptName<'n> {
    Text(&'n [u8]),
    Sha(&'n Sha),
}

/// The scripts by the hash of a name. If two names have one hash, the later one is kept.
#[derive(Debug, Default)]
pub(super) struct Memory {
    names: HashMap<u64, Rc<Known>, BuildHasherDefault<Same>>,
    /// Removals from the cache before the first of these was put here.
    removals: u64,
}

/// Hashes a hash.
#[derive(Debug, Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl ScriptName<'_> {
    fn hash(self) -> u64 {
        match self {
            ScriptName::Text(text) => hash_of(text),
            ScriptName::Sha(sha) => hash_of(sha),
        }
    }

    fn is_of(self, known: &Known) -> bool {
        match self {
            ScriptName::Text(text) => *known.source.text == *text,
            ScriptName::Sha(sha) => known.sha == *sha,
        }
    }
}

impl Memory {
    /// The script with this name, if it was run here and is in the cache still.
    pub(super) fn recall(&mut self, scripts: &Scripts, name: ScriptName<'_>) -> Option<Rc<Known>> {
        let removals = scripts.removals();
        if self.removals != removals {
            self.names.clear();
            self.removals = removals;
        }
        let known = self.names.get(&name.hash()).filter(|known| name.is_of(known))?;
        scripts.note_use(&known.source);
        Some(Rc::clone(known))
    }

    /// Keeps a script that [`Memory::recall`] has just not found, and that was in the cache at a time after that.
    pub(super) fn keep(
        &mut self,
        name: ScriptName<'_>,
        sha: Sha,
        source: Arc<CachedScript>,
    ) -> Rc<Known> {
        let known = Rc::new(Known { sha, source, compiled: Cell::new(None) });
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(name.hash(), Rc::clone(&known));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_until_something_is_removed() {
        let (scripts, mut memory) = (Scripts::default(), Memory::default());
        let (text, sha) = (ScriptName::Text(b"return 1"), [b'0'; 40]);
        assert!(memory.recall(&scripts, text).is_none());
        let source = scripts.add(&sha, b"return 1", false).expect("there is room");
        memory.keep(text, sha, Arc::clone(&source));
        assert!(memory.recall(&scripts, text).is_some_and(|known| known.sha == sha));
        assert!(memory.recall(&scripts, ScriptName::Text(b"return 2")).is_none());
        assert!(memory.recall(&scripts, ScriptName::Sha(&sha)).is_none(), "it has another name");
        memory.keep(ScriptName::Sha(&sha), sha, source);
        assert!(memory.recall(&scripts, ScriptName::Sha(&sha)).is_some());
        scripts.flush();
        assert!(memory.recall(&scripts, text).is_none());
    }

    #[test]
    fn a_script_that_is_known_and_run_stays_in_the_cache() {
        let (scripts, mut memory) = (Scripts::default(), Memory::default());
        let name = ScriptName::Text(b"hot");
        let source = scripts.add(&[b'h'; 40], b"hot", false).expect("there is room");
        memory.keep(name, [b'h'; 40], source);
        for number in 0..2000 {
            let mut sha = [b'0'; 40];
            sha[..4].copy_from_slice(format!("{number:04}").as_bytes());
            scripts.add(&sha, b"other", false).expect("there is room");
            if memory.recall(&scripts, name).is_none() {
                let source = scripts.find(&[b'h'; 40]).expect("it is used");
                memory.keep(name, [b'h'; 40], source);
            }
        }
    }
}
