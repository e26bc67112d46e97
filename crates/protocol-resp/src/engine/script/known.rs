// SPDX-License-Identifier: Apache-2.0
//! [`Memory`]: what this thread has run, by what requests call it. Scripts ([`Known`]) are found by their text without
//! its SHA-1, as long as they are in the cache, functions ([`KnownFunction`]) by their name in any case, as long as no
//! library is removed; and both without a look into what all workers share.

use crate::host::functions::{Functions, Library, LibraryFunction};
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

/// Bytes of scripts that were removed from the cache after which those that were run here are dropped, too.
const SWEEP_BYTES: u64 = 1 << 20;

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

/// A function, and where the VM of this thread has it.
#[derive(Debug)]
pub(crate) struct KnownFunction {
    /// As the request has written it.
    name: Box<[u8]>,
    pub(crate) library: Arc<Library>,
    /// Its place in the library.
    at: usize,
    pub(super) compiled: Cell<Option<Compiled>>,
}

/// What was run, by the hash of a name. If two names have one hash, the later one is kept.
#[derive(Debug)]
pub(super) struct Memory<T> {
    names: HashMap<u64, Rc<T>, BuildHasherDefault<Same>>,
    /// Of functions: the generation of the libraries that these are of. Of scripts: [`Scripts::gone_bytes`] when those that
    /// are gone were dropped last.
    as_of: u64,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { names: HashMap::default(), as_of: 0 }
    }
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

impl KnownFunction {
    pub(crate) fn function(&self) -> &LibraryFunction {
        &self.library.functions[self.at]
    }
}

impl<T> Memory<T> {
    /// What has a name with this hash and `is_it`.
    fn find(&self, hash: u64, is_it: impl FnOnce(&T) -> bool) -> Option<Rc<T>> {
        self.names.get(&hash).filter(|known| is_it(known)).map(Rc::clone)
    }

    /// Keeps what [`Memory::find`] has just not found, and what was shared at a time after that.
    fn put(&mut self, hash: u64, known: T) -> Rc<T> {
        let known = Rc::new(known);
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(hash, Rc::clone(&known));
        known
    }
}

impl Memory<Known> {
    /// The script with this name, if it was run here and is in the cache still.
    pub(super) fn recall(&mut self, scripts: &Scripts, name: ScriptName<'_>) -> Option<Rc<Known>> {
        let gone = scripts.gone_bytes();
        if gone.wrapping_sub(self.as_of) >= SWEEP_BYTES {
            self.names.retain(|_, known| !known.source.is_gone());
            self.as_of = gone;
        }
        let is_it = |known: &Known| name.is_of(known) && !known.source.is_gone();
        let known = self.find(name.hash(), is_it)?;
        scripts.note_use(&known.source);
        Some(known)
    }

    /// Keeps a script that [`Memory::recall`] has just not found, and that was in the cache at a time after that.
    pub(super) fn keep(
        &mut self,
        name: ScriptName<'_>,
        sha: Sha,
        source: Arc<CachedScript>,
    ) -> Rc<Known> {
        self.put(name.hash(), Known { sha, source, compiled: Cell::new(None) })
    }
}

impl Memory<KnownFunction> {
    /// The function with this name in any case, if there is one.
    pub(super) fn function(
        &mut self,
        functions: &Functions,
        name: &[u8],
    ) -> Option<Rc<KnownFunction>> {
        let hash = hash_of(name);
        let generation = functions.generation();
        if self.as_of != generation {
            self.names.clear();
            self.as_of = generation;
        }
        let known = self.find(hash, |known| *known.name == *name);
        known.or_else(|| {
            let (library, at) = functions.find(name)?;
            let compiled = Cell::new(None);
            Some(self.put(hash, KnownFunction { name: name.into(), library, at, compiled }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_until_it_is_removed() {
        let (scripts, mut memory) = (Scripts::default(), Memory::<Known>::default());
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
    fn scripts_that_make_room_for_others_leave_the_rest_known() {
        let (scripts, mut memory) = (Scripts::default(), Memory::<Known>::default());
        let sha = |number: usize| {
            let mut sha = [b'0'; 40];
            sha[..6].copy_from_slice(format!("{number:06}").as_bytes());
            sha
        };
        let text = vec![b'x'; 10 << 10];
        for number in 0..600 {
            let (sha, first) = (sha(number), sha(0));
            let source = scripts.add(&sha, &text, false).expect("there is room");
            memory.keep(ScriptName::Sha(&sha), sha, source);
            assert!(memory.recall(&scripts, ScriptName::Sha(&first)).is_some(), "after {number}");
        }
        assert!(memory.recall(&scripts, ScriptName::Sha(&sha(1))).is_none(), "it made room");
        assert!(memory.recall(&scripts, ScriptName::Sha(&sha(599))).is_some());
        assert!(memory.names.len() < 600, "nobody keeps all that are gone");
        drop(scripts);
        let other = Scripts::default();
        assert!(memory.recall(&other, ScriptName::Sha(&sha(599))).is_none(), "another server");
    }

    #[test]
    fn a_script_that_is_known_and_run_stays_in_the_cache() {
        let (scripts, mut memory) = (Scripts::default(), Memory::<Known>::default());
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

    #[test]
    fn a_function_is_known_until_the_libraries_change() {
        use script::{FunctionFlags, Registered};
        let library = |id| {
            let flags = FunctionFlags::default();
            let f = Registered { name: b"f"[..].into(), description: None, flags };
            Arc::new(Library::new(id, b"l", b"#!lua\n", 5, vec![f]))
        };
        let (functions, mut memory) = (Functions::default(), Memory::default());
        assert!(memory.function(&functions, b"f").is_none());
        functions.change(|all| all.link(&library(1))).expect("there is room");
        let known = memory.function(&functions, b"F").expect("it is there in any case");
        assert_eq!((known.library.id, &*known.function().name), (1, &b"f"[..]));
        let again = memory.function(&functions, b"F").expect("it is there");
        assert!(Rc::ptr_eq(&known, &again));
        let before = functions.generation();
        let flags = FunctionFlags::default();
        let g = Registered { name: b"g"[..].into(), description: None, flags };
        let more = Arc::new(Library::new(3, b"m", b"#!lua\n", 5, vec![g]));
        functions.change(|all| all.link(&more)).expect("there is room");
        assert_eq!(functions.generation(), before, "what workers have is as it was");
        assert!(memory.function(&functions, b"g").is_some(), "and the new one is found");
        functions.change(|all| all.replace(&library(2))).expect("there is room");
        assert_eq!(memory.function(&functions, b"F").map(|known| known.library.id), Some(2));
        let other = Functions::default();
        assert!(memory.function(&other, b"F").is_none(), "another server has none");
        functions.change(|all| all.unlink(b"l"));
        assert!(memory.function(&functions, b"F").is_none());
        functions.change(|all| *all = all.without_all());
        assert!(memory.function(&functions, b"g").is_none());
    }
}
