// SPDX-License-Identifier: Apache-2.0
//! [`LibraryVm`]: libraries of functions, as `FUNCTION LOAD` takes them and `FCALL` calls them. What libraries see is
//! in `library.lua`.

use super::{Compiled, Raised, Vm, of_lua};
use crate::base;
use crate::globals::Globals;
use crate::server::{Server, Sink};
use crate::texts::{TextList, Texts};
use mlua::chunk::ChunkMode;
use mlua::{Function, LuaString, Table, Value};
use std::collections::HashMap;

/// The most memory that libraries hold in a VM between calls, in bytes. A library with which they hold more is not loaded.
pub const LIBRARIES_MAX: usize = super::MEMORY_MAX / 2;

/// The name of a library in messages, and what Lua takes for it.
const CHUNK: &str = "@user_function";

/// What a function says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionFlags(u8);

impl FunctionFlags {
    /// It writes nothing.
    pub const NO_WRITES: Self = FunctionFlags(1);
    /// It may write though memory is short.
    pub const ALLOW_OOM: Self = FunctionFlags(1 << 1);
    /// It may run on a replica that has lost its primary.
    pub const ALLOW_STALE: Self = FunctionFlags(1 << 2);
    /// It may not run in a cluster.
    pub const NO_CLUSTER: Self = FunctionFlags(1 << 3);
    /// It may use keys of several slots.
    pub const ALLOW_CROSS_SLOT_KEYS: Self = FunctionFlags(1 << 4);

    const ALL: [(Self, &'static str); 5] = [
        (Self::NO_WRITES, "no-writes"),
        (Self::ALLOW_OOM, "allow-oom"),
        (Self::ALLOW_STALE, "allow-stale"),
        (Self::NO_CLUSTER, "no-cluster"),
        (Self::ALLOW_CROSS_SLOT_KEYS, "allow-cross-slot-keys"),
    ];

    /// Whether it has all of these flags.
    #[must_use]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The names of its flags.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        Self::ALL.into_iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| name)
    }
}

/// A function that a library has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Letters, digits and `_`.
    pub name: Box<[u8]>,
    /// What it says that it does.
    pub description: Option<Box<[u8]>>,
    /// What it says of itself.
    pub flags: FunctionFlags,
}

/// Why a library was not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is no Lua.
    #[error("Error compiling function: {0}")]
    Compile(String),
    /// It has failed.
    #[error("Error registering functions: {0}")]
    Register(String),
}

/// A VM for libraries. It stays in its thread.
///
/// ```
/// use script::testing::{Canned, TextReply};
///
/// let mut vm = script::LibraryVm::new("8.0.0").expect("there is memory");
/// let code = b"redis.register_function('first', function(keys, args) return args[1] end)";
/// let mut server = Canned::default();
/// let functions = vm.load(1, code, &mut server).expect("it is a library");
/// assert_eq!(&*functions[0].name, b"first");
///
/// let mut reply = TextReply::default();
/// let done = vm.call(1, b"first", &[], &[b"a"], &mut server, &mut reply);
/// assert!(done.is_ok());
/// assert_eq!(reply.0, "\"a\"");
/// ```
#[derive(Debug)]
pub struct LibraryVm {
    vm: Vm,
    /// What libraries have for their globals.
    environment: Table,
    /// Begins and ends the loading of a library.
    enter: Function,
    leave: Function,
    /// The numbers of each library's functions, by their names.
    libraries: HashMap<u64, HashMap<Box<[u8]>, i32>>,
    /// The highest number of a function, and the numbers of those that are no more.
    numbers: i32,
    free: Vec<i32>,
    /// Keeps the name of libraries alive, see RULE-ANCHOR.
    _chunk: LuaString,
}

impl LibraryVm {
    /// A new VM, in which functions see this version of Redis.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    pub fn new(version: &str) -> Result<Self, super::CompileError> {
        let of_lua = |error: mlua::Error| super::CompileError(error.to_string());
        let vm = Vm::new(version)?;
        let chunk = vm.lua.load(include_str!("../library.lua")).set_name("=prelude");
        let (environment, enter, leave) = chunk.call((&vm.parts, &vm.globals)).map_err(of_lua)?;
        let anchor = vm.lua.create_string(CHUNK).map_err(of_lua)?;
        let (libraries, numbers, free) = (HashMap::new(), 0, Vec::new());
        Ok(LibraryVm { vm, environment, enter, leave, libraries, numbers, free, _chunk: anchor })
    }

    /// Whether a library is loaded.
    #[must_use]
    pub fn has(&self, id: u64) -> bool {
        self.libraries.contains_key(&id)
    }

    /// The function with this name of a library, if it is loaded.
    #[must_use]
    pub fn find(&self, id: u64, name: &[u8]) -> Option<Compiled> {
        let at = *self.libraries.get(&id)?.get(name)?;
        Some(Compiled { at, epoch: self.vm.epoch, globals: Globals::ALL })
    }

    /// Whether a function that was found is kept.
    #[inline]
    #[must_use]
    pub fn keeps(&self, function: Compiled) -> bool {
        self.vm.keeps(function)
    }

    /// Bytes of memory in use.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.vm.used_bytes()
    }

    /// Drops the libraries whose ids `keeps` does not want. All functions must be found anew then.
    pub fn retain(&mut self, mut keeps: impl FnMut(u64) -> bool) {
        let dropped: Vec<_> = self.libraries.extract_if(|id, _| !keeps(*id)).collect();
        if dropped.is_empty() {
            return;
        }
        for (_, functions) in dropped {
            functions.into_values().for_each(|at| self.drop_function(at));
        }
        self.vm.epoch = self.vm.epoch.wrapping_add(1);
        let _ = self.vm.lua.gc_collect();
    }

    /// Drops a function and gives its number to another.
    fn drop_function(&mut self, at: i32) {
        let _ = self.vm.scripts.raw_set(at, Value::Nil);
        self.free.push(at);
    }

    /// Loads the text of a library under an id that no other has had here, and returns what it has registered.
    ///
    /// # Errors
    ///
    /// If the library is not right, or `server` does not let it go on; then it is not loaded.
    pub fn load(
        &mut self,
        id: u64,
        code: &[u8],
        server: &mut dyn Server,
    ) -> Result<Vec<Registered>, LoadError> {
        let result = self.register(code, server);
        let result = result.and_then(|(callbacks, list)| {
            if self.vm.used_bytes() > LIBRARIES_MAX {
                let _ = self.vm.lua.gc_collect();
            }
            if self.vm.used_bytes() > LIBRARIES_MAX {
                return Err(LoadError::Register("ERR not enough memory".to_owned()));
            }
            let functions = read_list(&list).map_err(of_register)?;
            self.number(id, &functions, &callbacks).map_err(of_register)?;
            Ok(functions)
        });
        if result.is_err() {
            let _ = self.vm.lua.gc_collect();
        }
        result
    }

    /// Runs a library; returns its functions by their names, and the list of what it has registered.
    fn register(&self, code: &[u8], server: &mut dyn Server) -> Result<(Table, Table), LoadError> {
        let source = base::text_only(code);
        let chunk = self.vm.lua.load(source.as_deref().unwrap_or(code));
        let chunk = chunk.set_name(CHUNK).set_mode(ChunkMode::Text);
        let chunk = chunk.set_environment(self.environment.clone()).into_function();
        let chunk = chunk.map_err(|error| LoadError::Compile(base::message(&error)))?;
        self.enter.call::<()>(()).map_err(of_register)?;
        let done = self.vm.guard.slot.lend(server, || {
            let results = self.vm.runner.call(chunk).map_err(of_lua)?;
            Vm::outcome(results)
        });
        let stopped = self.vm.guard.take_stop(&self.vm.lua);
        let made = self.leave.call(()).map_err(of_register);
        if let Some((why, _)) = stopped {
            return Err(LoadError::Register(why.to_owned()));
        }
        done.map_err(|raised| {
            LoadError::Register(String::from_utf8_lossy(&raised.text).into_owned())
        })?;
        made
    }

    /// Gives a number to each function of a library.
    fn number(&mut self, id: u64, functions: &[Registered], callbacks: &Table) -> mlua::Result<()> {
        let mut numbers = HashMap::with_capacity(functions.len());
        for function in functions {
            let at = self.free.pop().unwrap_or(self.numbers + 1);
            self.numbers = self.numbers.max(at);
            numbers.insert(function.name.clone(), at);
            let name = self.vm.lua.create_string(&function.name);
            let callback: mlua::Result<Value> = name.and_then(|name| callbacks.raw_get(name));
            let done = callback.and_then(|callback| self.vm.scripts.raw_set(at, callback));
            if let Err(error) = done {
                numbers.into_values().for_each(|at| self.drop_function(at));
                return Err(error);
            }
        }
        self.libraries.insert(id, numbers);
        Ok(())
    }

    /// Calls a function of a library that is loaded; writes what it returns to `sink`.
    ///
    /// # Errors
    ///
    /// What the function failed with; nothing has been written.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    pub fn call<A: AsRef<[u8]>>(
        &mut self,
        id: u64,
        name: &[u8],
        keys: &[A],
        args: &[A],
        server: &mut dyn Server,
        sink: &mut dyn Sink,
    ) -> Result<(), Raised> {
        let function = self.find(id, name).expect("it is loaded");
        let (keys, args): (TextList, TextList) = (keys.iter().collect(), args.iter().collect());
        self.call_found(function, keys.texts(), args.texts(), server, sink)
    }

    /// The same, without a search for the function, and without a copy of the keys and arguments. Nothing is
    /// allocated but by Lua.
    ///
    /// # Errors
    ///
    /// As [`LibraryVm::call`].
    ///
    /// # Panics
    ///
    /// If the function is not kept.
    pub fn call_found(
        &mut self,
        function: Compiled,
        keys: Texts<'_>,
        args: Texts<'_>,
        server: &mut dyn Server,
        sink: &mut dyn Sink,
    ) -> Result<(), Raised> {
        assert!(self.keeps(function), "it is loaded");
        self.vm.run_with(server, sink, |machine| machine.invoke(function.at, keys, args))
    }
}

/// An error of Lua itself.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn of_register(error: mlua::Error) -> LoadError {
    LoadError::Register(format!("ERR {}", base::message(&error)))
}

/// What `library.lua` says was registered.
fn read_list(list: &Table) -> mlua::Result<Vec<Registered>> {
    let read = |entry: mlua::Result<Table>| {
        let entry = entry?;
        let name: LuaString = entry.raw_get("name")?;
        let description: Option<LuaString> = entry.raw_get("description")?;
        let given: Table = entry.raw_get("flags")?;
        let mut flags = FunctionFlags::default();
        for (flag, name) in FunctionFlags::ALL {
            if given.raw_get(name)? {
                flags.0 |= flag.0;
            }
        }
        let bytes = |text: &LuaString| text.as_bytes().to_vec().into_boxed_slice();
        Ok(Registered { name: bytes(&name), description: description.as_ref().map(bytes), flags })
    };
    list.sequence_values().map(read).collect()
}
