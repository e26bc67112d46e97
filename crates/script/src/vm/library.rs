// SPDX-License-Identifier: Apache-2.0
//! [`LibraryVm`]: libraries of functions, as `FUNCTION LOAD` takes them and `FCALL` calls them. What libraries see is
//! in `library.lua`.

use super::{Raised, Vm, of_lua};
use crate::base;
use crate::server::{Server, Sink};
use mlua::chunk::ChunkMode;
use mlua::{Function, LuaString, Table, Value};
use std::collections::HashSet;

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
    /// Calls a function and catches its errors.
    caller: Function,
    /// The functions of each library by their names.
    libraries: Table,
    loaded: HashSet<u64>,
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
        let (environment, enter, leave, caller) =
            chunk.call((&vm.parts, &vm.globals)).map_err(of_lua)?;
        let libraries = vm.lua.create_table().map_err(of_lua)?;
        let anchor = vm.lua.create_string(CHUNK).map_err(of_lua)?;
        let loaded = HashSet::new();
        Ok(LibraryVm { vm, environment, enter, leave, caller, libraries, loaded, _chunk: anchor })
    }

    /// Whether a library is loaded.
    #[must_use]
    pub fn has(&self, id: u64) -> bool {
        self.loaded.contains(&id)
    }

    /// Bytes of memory in use.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.vm.used_bytes()
    }

    /// Drops the libraries whose ids `keeps` does not want.
    pub fn retain(&mut self, mut keeps: impl FnMut(u64) -> bool) {
        let before = self.loaded.len();
        let libraries = &self.libraries;
        self.loaded.retain(|id| {
            let is_kept = keeps(*id);
            if !is_kept {
                let _ = libraries.raw_set(*id as f64, Value::Nil);
            }
            is_kept
        });
        if self.loaded.len() < before {
            let _ = self.vm.lua.gc_collect();
        }
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
            self.libraries.raw_set(id as f64, callbacks).map_err(of_register)?;
            self.loaded.insert(id);
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

    /// Calls a function of a library that is loaded; writes what it returns to `sink`.
    ///
    /// # Errors
    ///
    /// What the function failed with; nothing has been written.
    pub fn call<A: AsRef<[u8]>>(
        &mut self,
        id: u64,
        name: &[u8],
        keys: &[A],
        args: &[A],
        server: &mut dyn Server,
        sink: &mut dyn Sink,
    ) -> Result<(), Raised> {
        let LibraryVm { vm, caller, libraries, .. } = self;
        vm.run_with(server, sink, |vm| {
            let callbacks: Table = libraries.raw_get(id as f64).map_err(of_lua)?;
            let name = vm.lua.create_string(name).map_err(of_lua)?;
            let callback: Value = callbacks.raw_get(name).map_err(of_lua)?;
            let keys = vm.texts(keys).map_err(of_lua)?;
            let args = vm.texts(args).map_err(of_lua)?;
            let value = Vm::outcome(caller.call((callback, keys, args)).map_err(of_lua)?)?;
            vm.machine.put(&vm.lua, &value).map_err(of_lua)
        })
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
