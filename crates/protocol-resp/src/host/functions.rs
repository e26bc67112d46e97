// SPDX-License-Identifier: Apache-2.0
//! [`Functions`]: the libraries of functions that all workers share. A worker loads a library into its VM when it first
//! calls one of its functions.

use crate::host::scripts::Probation;
use crate::host::vm_memory::VmMemory;
use parking_lot::RwLock;
use script::{FunctionFlags, Registered};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The most bytes of all libraries: their texts, names and descriptions.
const BYTES_MAX: u64 = 16 << 20;

/// What a function takes besides its name and its description.
const FUNCTION_BYTES: u64 = 128;

/// A function of a library.
#[derive(Debug)]
pub(crate) struct LibraryFunction {
    pub(crate) name: Box<[u8]>,
    pub(crate) description: Option<Box<[u8]>>,
    pub(crate) flags: FunctionFlags,
    pub(crate) probation: Probation,
}

/// A library.
#[derive(Debug)]
pub(crate) struct Library {
    /// No other has had it.
    pub(crate) id: u64,
    pub(crate) name: Box<[u8]>,
    /// With its first line.
    pub(crate) text: Box<[u8]>,
    /// Where the text for Lua begins.
    pub(crate) code_at: usize,
    pub(crate) functions: Vec<LibraryFunction>,
}

impl Library {
    /// A library that has registered these functions.
    pub(crate) fn new(
        id: u64,
        name: &[u8],
        text: &[u8],
        code_at: usize,
        registered: Vec<Registered>,
    ) -> Self {
        let function = |made: Registered| LibraryFunction {
            name: made.name,
            description: made.description,
            flags: made.flags,
            probation: Probation::default(),
        };
        let functions = registered.into_iter().map(function).collect();
        Library { id, name: name.into(), text: text.into(), code_at, functions }
    }

    /// The text for Lua. It has the end of the first line, so that lines are counted right.
    pub(crate) fn code(&self) -> &[u8] {
        &self.text[self.code_at..]
    }

    fn bytes(&self) -> u64 {
        let of_function = |function: &LibraryFunction| {
            let description = function.description.as_ref().map_or(0, |text| text.len());
            FUNCTION_BYTES + (function.name.len() + description) as u64
        };
        let functions: u64 = self.functions.iter().map(of_function).sum();
        (self.name.len() + self.text.len()) as u64 + functions
    }
}

/// Why a library does not become one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotLinked {
    /// There is one with its name.
    Library(Box<[u8]>),
    /// Another library has a function with this name.
    Function(Box<[u8]>),
    /// They would take too much memory.
    Full,
}

/// Libraries, whose functions all have names of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Libraries {
    libraries: BTreeMap<Box<[u8]>, Arc<Library>>,
    /// The library of each function and its place there, by its name in lower case.
    functions: HashMap<Box<[u8]>, (Arc<Library>, usize)>,
    bytes: u64,
    /// How many were removed.
    removed: u64,
}

impl Libraries {
    /// Adds a library.
    pub(crate) fn link(&mut self, library: &Arc<Library>) -> Result<(), NotLinked> {
        if self.libraries.contains_key(&library.name) {
            return Err(NotLinked::Library(library.name.clone()));
        }
        let taken = |function: &&LibraryFunction| {
            self.functions.contains_key(&*function.name.to_ascii_lowercase())
        };
        if let Some(function) = library.functions.iter().find(taken) {
            return Err(NotLinked::Function(function.name.clone()));
        }
        if self.bytes + library.bytes() > BYTES_MAX {
            return Err(NotLinked::Full);
        }
        for (at, function) in library.functions.iter().enumerate() {
            let name = function.name.to_ascii_lowercase().into_boxed_slice();
            // Of names that differ only in case, the first is called.
            self.functions.entry(name).or_insert_with(|| (Arc::clone(library), at));
        }
        self.bytes += library.bytes();
        self.libraries.insert(library.name.clone(), Arc::clone(library));
        Ok(())
    }

    /// Removes a library.
    pub(crate) fn unlink(&mut self, name: &[u8]) -> Option<Arc<Library>> {
        let library = self.libraries.remove(name)?;
        for function in &library.functions {
            self.functions.remove(&*function.name.to_ascii_lowercase());
        }
        self.bytes -= library.bytes();
        self.removed += 1;
        Some(library)
    }

    /// Adds a library in place of one with its name; on an error nothing changes.
    pub(crate) fn replace(&mut self, library: &Arc<Library>) -> Result<(), NotLinked> {
        let old = self.unlink(&library.name);
        let result = self.link(library);
        if result.is_err()
            && let Some(old) = old
        {
            self.link(&old)?;
        }
        result
    }

    /// What is left when all are removed.
    pub(crate) fn without_all(&self) -> Self {
        Libraries { removed: self.removed + self.libraries.len() as u64, ..Libraries::default() }
    }

    /// The libraries by name.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Library>> {
        self.libraries.values()
    }
}

/// How many libraries and functions there are, and the bytes that they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionCounts {
    pub(crate) libraries: usize,
    pub(crate) functions: usize,
    pub(crate) bytes: u64,
}

/// Numbers of libraries and of their changes. None comes twice in a process: the VM of a thread may see the libraries of
/// several servers.
fn next_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    NUMBERS.fetch_add(1, Relaxed)
}

/// The libraries of a server.
#[derive(Debug)]
pub(crate) struct Functions {
    libraries: RwLock<Libraries>,
    /// Changes when libraries are removed, so that workers drop those that are no more. One that is added changes nothing in
    /// what workers have.
    generation: AtomicU64,
    vm_memory: VmMemory,
}

impl Default for Functions {
    fn default() -> Self {
        Functions {
            libraries: RwLock::default(),
            generation: AtomicU64::new(next_number()),
            vm_memory: VmMemory::default(),
        }
    }
}

impl Functions {
    /// An id for a library.
    pub(crate) fn next_id() -> u64 {
        next_number()
    }

    /// A function by its name in any case: its library, and its place there.
    pub(crate) fn find(&self, name: &[u8]) -> Option<(Arc<Library>, usize)> {
        self.libraries.read().functions.get(&*name.to_ascii_lowercase()).cloned()
    }

    /// Whether there is a library with this name.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.libraries.read().libraries.contains_key(name)
    }

    /// Reads the libraries.
    pub(crate) fn read<R>(&self, work: impl FnOnce(&Libraries) -> R) -> R {
        work(&self.libraries.read())
    }

    /// Changes the libraries. Whoever calls a function afterwards, on whatever worker, sees the change.
    pub(crate) fn change<R>(&self, work: impl FnOnce(&mut Libraries) -> R) -> R {
        let mut libraries = self.libraries.write();
        let removed = libraries.removed;
        let result = work(&mut libraries);
        if libraries.removed != removed {
            self.generation.store(next_number(), Release);
        }
        result
    }

    /// Changes when libraries are removed, to a number that no server has had.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Acquire)
    }

    /// How many there are.
    pub(crate) fn counts(&self) -> FunctionCounts {
        let libraries = self.libraries.read();
        let functions = libraries.iter().map(|library| library.functions.len()).sum();
        FunctionCounts { libraries: libraries.libraries.len(), functions, bytes: libraries.bytes }
    }

    /// The memory of the VMs that have them.
    pub(crate) fn vm_memory(&self) -> &VmMemory {
        &self.vm_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(id: u64, name: &str, functions: &[&str]) -> Arc<Library> {
        let registered = |name: &&str| Registered {
            name: name.as_bytes().into(),
            description: None,
            flags: FunctionFlags::default(),
        };
        let registered = functions.iter().map(registered).collect();
        Arc::new(Library::new(id, name.as_bytes(), b"#!lua\n", 5, registered))
    }

    #[test]
    fn a_function_is_found_by_its_name_in_any_case() {
        let functions = Functions::default();
        functions.change(|all| all.link(&library(1, "a", &["f", "G"]))).expect("there is room");
        assert_eq!(functions.find(b"F").map(|(library, at)| (library.id, at)), Some((1, 0)));
        assert_eq!(functions.find(b"g").map(|(library, at)| (library.id, at)), Some((1, 1)));
        assert!(functions.find(b"h").is_none());
    }

    #[test]
    fn a_name_is_taken_once() {
        let mut all = Libraries::default();
        all.link(&library(1, "a", &["f"])).expect("there is room");
        assert_eq!(all.link(&library(2, "a", &["g"])), Err(NotLinked::Library(b"a"[..].into())));
        assert_eq!(all.link(&library(3, "b", &["F"])), Err(NotLinked::Function(b"F"[..].into())));
        all.link(&library(4, "b", &["g"])).expect("there is room");
        // What cannot replace a library leaves it.
        let wrong = all.replace(&library(5, "a", &["h", "g"]));
        assert_eq!(wrong, Err(NotLinked::Function(b"g"[..].into())));
        assert_eq!(all.iter().map(|library| library.id).collect::<Vec<_>>(), [1, 4]);
        assert!(all.functions.contains_key(&b"f"[..]) && !all.functions.contains_key(&b"h"[..]));
        all.replace(&library(6, "a", &["h"])).expect("there is room");
        assert!(!all.functions.contains_key(&b"f"[..]) && all.functions.contains_key(&b"h"[..]));
        all.unlink(b"a");
        all.unlink(b"b");
        assert!(all.functions.is_empty() && all.bytes == 0);
    }

    #[test]
    fn libraries_are_bounded_in_bytes() {
        let large = |id, name: &str| {
            let text = vec![b'x'; BYTES_MAX as usize / 2];
            Arc::new(Library::new(id, name.as_bytes(), &text, 0, Vec::new()))
        };
        let mut all = Libraries::default();
        all.link(&large(1, "a")).expect("there is room");
        assert_eq!(all.link(&large(2, "b")), Err(NotLinked::Full));
        all.replace(&large(3, "a")).expect("there is room");
    }
}
