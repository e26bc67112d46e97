// SPDX-License-Identifier: Apache-2.0
//! [`Vm`]: a Lua VM, the scripts that it has compiled, and one run of a script. `vm/library.rs`: libraries of
//! functions.

mod library;

pub use library::{FunctionFlags, LIBRARIES_MAX, LibraryVm, LoadError, Registered};

use crate::arguments::{Thrown, text_of};
use crate::guard::Guard;
use crate::server::{ReplyVersion, Server, Sink};
use crate::{answer, base, bits, cjson, cmsgpack, packing, patterns, redis};
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// The most memory of a VM, in bytes. More is an error of the script that asks for it.
pub const MEMORY_MAX: usize = 256 << 20;

/// The most scripts that a VM keeps compiled; when there are more, all are compiled again when they are needed.
const COMPILED_MAX: usize = 1000;

/// After a script that leaves more memory behind than this, its garbage is collected at once.
const GARBAGE_MAX: usize = 16 << 20;

/// The name of a script in messages, and what Lua takes for it.
const CHUNK: &str = "@user_script";

/// A SHA-1 digest in hexadecimal digits.
pub(crate) type Sha = [u8; 40];

/// Why a source is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompileError(pub String);

/// What a script failed with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raised {
    /// The text, beginning with its code.
    pub text: Vec<u8>,
    /// The chunk and the line, if they are known.
    pub place: Option<(Vec<u8>, i64)>,
    /// It is the reply of a command, where it has been counted.
    pub is_of_command: bool,
}

/// A Lua VM. It stays in its thread, and takes about 100 KB.
#[derive(Debug)]
pub struct Vm {
    lua: Lua,
    guard: Rc<Guard>,
    resp: Rc<Cell<ReplyVersion>>,
    settings: Rc<cjson::JsonSettings>,
    /// Runs a script and catches its errors.
    runner: Function,
    /// The real table of globals, in which KEYS and ARGV are set.
    globals: Table,
    names: [LuaString; 2],
    /// Keeps the name of scripts alive, see RULE-ANCHOR.
    _chunk: LuaString,
    compiled: HashMap<Sha, Function>,
    /// Tables and functions of `prelude.lua` on which others build.
    parts: Table,
}

impl Vm {
    /// A new VM, in which scripts see this version of Redis.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    pub fn new(version: &str) -> Result<Self, CompileError> {
        Self::build(version).map_err(|error| CompileError(error.to_string()))
    }

    fn build(version: &str) -> mlua::Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let lua = Lua::new_with(
            libraries,
            // Then a panic is none of the errors that scripts catch.
            LuaOptions::new().catch_rust_panics(false),
        )?;
        let guard = Rc::new(Guard::default());
        let resp = Rc::new(Cell::new(ReplyVersion::Two));
        let settings = Rc::new(cjson::JsonSettings::default());
        let rust = lua.create_table()?;
        base::install(&lua, &rust)?;
        patterns::install(&lua, &rust, &guard)?;
        let stops = Rc::clone(&guard);
        rust.raw_set("is_stopped", lua.create_function(move |_, ()| Ok(stops.is_stopped()))?)?;
        rust.raw_set("redis", redis::library(&lua, &guard, &resp, version)?)?;
        rust.raw_set("cjson", cjson::library(&lua, &settings, &guard)?)?;
        rust.raw_set("cmsgpack", cmsgpack::library(&lua, &guard)?)?;
        rust.raw_set("struct", packing::library(&lua)?)?;
        rust.raw_set("bit", bits::library(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (runner, globals, parts): (Function, Table, Table) = prelude.call(rust)?;
        lua.set_globals(globals.raw_get("_G")?)?;
        lua.set_memory_limit(MEMORY_MAX)?;
        guard.watch(&lua)?;
        let names = [lua.create_string("KEYS")?, lua.create_string("ARGV")?];
        let chunk = lua.create_string(CHUNK)?;
        let compiled = HashMap::new();
        Ok(Vm {
            lua,
            guard,
            resp,
            settings,
            runner,
            globals,
            names,
            _chunk: chunk,
            compiled,
            parts,
        })
    }

    /// Whether a script is compiled.
    #[must_use]
    pub fn has(&self, sha: &Sha) -> bool {
        self.compiled.contains_key(sha)
    }

    /// Compiles a script, which is text, for [`Vm::run`].
    ///
    /// # Errors
    ///
    /// Lua's message if the source is no script.
    pub fn compile(&mut self, sha: &Sha, source: &[u8]) -> Result<(), CompileError> {
        let load = |source: &[u8]| {
            let chunk = self.lua.load(source).set_name(CHUNK).set_mode(ChunkMode::Text);
            chunk.into_function()
        };
        let script = match base::text_only(source) {
            Some(source) => load(&source),
            None => load(source),
        };
        let script = script.map_err(|error| CompileError(base::message(&error)))?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
            let _ = self.lua.gc_collect();
        }
        self.compiled.insert(*sha, script);
        Ok(())
    }

    /// Drops all compiled scripts.
    pub fn forget_all(&mut self) {
        self.compiled.clear();
        let _ = self.lua.gc_collect();
    }

    /// Bytes of memory in use.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.lua.used_memory()
    }

    /// Runs a script that has been compiled; writes what it returns to `sink`.
    ///
    /// # Errors
    ///
    /// What the script failed with; nothing has been written.
    ///
    /// # Panics
    ///
    /// If the script has not been compiled.
    pub fn run<A: AsRef<[u8]>>(
        &mut self,
        sha: &Sha,
        keys: &[A],
        args: &[A],
        server: &mut dyn Server,
        sink: &mut dyn Sink,
    ) -> Result<(), Raised> {
        let script = self.compiled.get(sha).expect("it has been compiled").clone();
        self.run_with(server, sink, |vm| vm.call(&script, keys, args))
    }

    /// Runs what `call` calls; writes what it returns to `sink`.
    fn run_with(
        &self,
        server: &mut dyn Server,
        sink: &mut dyn Sink,
        call: impl FnOnce(&Self) -> Result<Value, Raised>,
    ) -> Result<(), Raised> {
        self.resp.set(ReplyVersion::Two);
        self.settings.reset();
        let done = self.guard.slot.lend(&mut *server, || call(self));
        let stopped = self.guard.take_stop(&self.lua);
        let result = match (stopped, done) {
            (Some((why, place)), _) => {
                Err(Raised { text: why.into(), place, is_of_command: false })
            }
            (None, Ok(value)) => {
                self.guard.slot.lend(server, || {
                    answer::write(&value, self.resp.get(), &self.guard, sink);
                });
                // A reply that was begun is ended, too.
                let _ = self.guard.take_stop(&self.lua);
                Ok(())
            }
            (None, Err(raised)) => Err(raised),
        };
        if self.lua.used_memory() > GARBAGE_MAX {
            let _ = self.lua.gc_collect();
        }
        result
    }

    fn call<A: AsRef<[u8]>>(
        &self,
        script: &Function,
        keys: &[A],
        args: &[A],
    ) -> Result<Value, Raised> {
        let set = |at: usize, texts: &[A]| -> mlua::Result<()> {
            self.globals.raw_set(&self.names[at], self.texts(texts)?)
        };
        set(0, keys).map_err(of_lua)?;
        set(1, args).map_err(of_lua)?;
        Self::outcome(self.runner.call(script).map_err(of_lua)?)
    }

    /// A table of texts.
    fn texts<A: AsRef<[u8]>>(&self, texts: &[A]) -> mlua::Result<Table> {
        let table = self.lua.create_table_with_capacity(texts.len(), 0)?;
        for (i, text) in texts.iter().enumerate() {
            table.raw_set(i + 1, self.lua.create_string(text)?)?;
        }
        Ok(table)
    }

    /// What the runner has returned.
    fn outcome(results: MultiValue) -> Result<Value, Raised> {
        let mut results = results.into_iter();
        let mut next = || results.next().unwrap_or(Value::Nil);
        let (is_ok, source, line, value) = (next(), next(), next(), next());
        if is_ok == Value::Boolean(true) {
            return Ok(value);
        }
        let line = line.as_i64().unwrap_or(-1);
        let place = text_of(&source).map(|source| (source, line));
        Err(raised(&value, place))
    }
}

/// An error outside of a script.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn of_lua(error: mlua::Error) -> Raised {
    Raised { text: format!("ERR {}", base::message(&error)).into(), ..Raised::default() }
}

/// What a script failed with, as Redis words it.
fn raised(value: &Value, place: Option<(Vec<u8>, i64)>) -> Raised {
    let text = match value {
        Value::Table(table) => {
            let text = table.raw_get("err").ok().and_then(|text: Value| text_of(&text));
            let is_of_command = table.raw_get("ignore_error_stats_update").unwrap_or(false);
            let text = text.unwrap_or_else(|| b"ERR unknown error".to_vec());
            return Raised { text, place, is_of_command };
        }
        Value::Nil => b"nil".to_vec(),
        Value::Boolean(value) => value.to_string().into(),
        Value::Error(error) => match Thrown::of(error) {
            Some(thrown) if thrown.is_table => {
                let Thrown { text, is_of_command, .. } = thrown.clone();
                return Raised { text, place, is_of_command };
            }
            Some(thrown) => thrown.text.clone(),
            None => base::message(error).into(),
        },
        other => text_of(other).unwrap_or_else(|| other.type_name().into()),
    };
    Raised { text: [b"ERR ", &text[..]].concat(), place, is_of_command: false }
}
