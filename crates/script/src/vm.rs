// SPDX-License-Identifier: Apache-2.0
//! [`Vm`]: a Lua VM, the scripts that it has compiled, and one run of a script. `vm/library.rs`: libraries of
//! functions.

mod library;

pub use library::{FunctionFlags, LIBRARIES_MAX, LibraryVm, LoadError, Registered};

use crate::arguments::{Thrown, text_of};
use crate::globals::Globals;
use crate::guard::Guard;
use crate::native::{Bridge, Machine};
use crate::server::{ReplyVersion, Server, Sink};
use crate::texts::{TextList, Texts};
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
    /// It is of the server, which has counted it: the reply of a command, or a refusal.
    pub was_counted: bool,
}

/// A script that a VM has compiled, or a function that it has loaded, as long as the VM keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    at: i32,
    /// How often the VM had forgotten others.
    epoch: u32,
    globals: Globals,
}

/// A Lua VM. It stays in its thread, and takes about 100 KB.
#[derive(Debug)]
pub struct Vm {
    // Dropped before what its functions reach.
    lua: Lua,
    machine: Machine,
    guard: Rc<Guard>,
    resp: Rc<Cell<ReplyVersion>>,
    settings: Rc<cjson::JsonSettings>,
    /// Keeps the name of scripts alive, see RULE-ANCHOR.
    _chunk: LuaString,
    /// The scripts by number, as the machine has them.
    scripts: Table,
    compiled: HashMap<Sha, Compiled>,
    epoch: u32,
    /// Runs a function and catches its errors: for libraries.
    runner: Function,
    /// The real table of globals.
    globals: Table,
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
        let bridge = Rc::new(Bridge::new(Rc::clone(&guard), Rc::clone(&resp)));
        let settings = Rc::new(cjson::JsonSettings::default());
        let rust = lua.create_table()?;
        base::install(&lua, &rust)?;
        patterns::install(&lua, &rust, &guard)?;
        let stops = Rc::clone(&guard);
        rust.raw_set("is_stopped", lua.create_function(move |_, ()| Ok(stops.is_stopped()))?)?;
        rust.raw_set("redis", redis::library(&lua, &bridge, version)?)?;
        rust.raw_set("cjson", cjson::library(&lua, &settings, &guard)?)?;
        rust.raw_set("cmsgpack", cmsgpack::library(&lua, &guard)?)?;
        rust.raw_set("struct", packing::library(&lua)?)?;
        rust.raw_set("bit", bits::library(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (runner, globals, parts): (Function, Table, Table) = prelude.call(rust)?;
        lua.set_globals(globals.raw_get("_G")?)?;
        let scripts = lua.create_table()?;
        let machine = Machine::new(&lua, bridge, &globals, &scripts)?;
        lua.set_memory_limit(MEMORY_MAX)?;
        guard.watch(&lua)?;
        let chunk = lua.create_string(CHUNK)?;
        let compiled = HashMap::new();
        Ok(Vm {
            lua,
            machine,
            guard,
            resp,
            settings,
            _chunk: chunk,
            scripts,
            compiled,
            epoch: 0,
            runner,
            globals,
            parts,
        })
    }

    /// The script with this digest, if it is compiled.
    #[must_use]
    pub fn find(&self, sha: &Sha) -> Option<Compiled> {
        self.compiled.get(sha).copied()
    }

    /// Whether a script that was compiled is kept.
    #[inline]
    #[must_use]
    pub fn keeps(&self, script: Compiled) -> bool {
        script.epoch == self.epoch
    }

    /// Compiles a script, which is text, for [`Vm::run`].
    ///
    /// # Errors
    ///
    /// Lua's message if the source is no script.
    pub fn compile(&mut self, sha: &Sha, source: &[u8]) -> Result<Compiled, CompileError> {
        let load = |source: &[u8]| {
            let chunk = self.lua.load(source).set_name(CHUNK).set_mode(ChunkMode::Text);
            chunk.into_function()
        };
        let script = match base::text_only(source) {
            Some(source) => load(&source),
            None => load(source),
        };
        let failure = |error: mlua::Error| CompileError(base::message(&error));
        let script = script.map_err(failure)?;
        let globals = Globals::of(&script.dump(true));
        if !globals.assigns {
            // Nothing reaches this table through it but to read what it names.
            script.set_environment(self.globals.clone()).map_err(failure)?;
        }
        if self.compiled.len() >= COMPILED_MAX {
            self.forget_all();
        }
        // A script that is compiled again takes the place that it had.
        let next = self.compiled.len() as i32 + 1;
        let at = self.compiled.get(sha).map_or(next, |known| known.at);
        self.scripts.raw_set(at, script).map_err(failure)?;
        let compiled = Compiled { at, epoch: self.epoch, globals };
        self.compiled.insert(*sha, compiled);
        Ok(compiled)
    }

    /// Drops all compiled scripts.
    pub fn forget_all(&mut self) {
        self.compiled.clear();
        self.epoch = self.epoch.wrapping_add(1);
        // Its functions go one by one when others take their places, if not now.
        let _ = self.scripts.clear();
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
        let script = self.find(sha).expect("it has been compiled");
        let (keys, args): (TextList, TextList) = (keys.iter().collect(), args.iter().collect());
        self.run_compiled(script, keys.texts(), args.texts(), server, sink)
    }

    /// The same, without a search for the script, and without a copy of the keys and arguments. Nothing is
    /// allocated but by Lua.
    ///
    /// # Errors
    ///
    /// As [`Vm::run`].
    ///
    /// # Panics
    ///
    /// If the script is not kept.
    pub fn run_compiled(
        &mut self,
        script: Compiled,
        keys: Texts<'_>,
        args: Texts<'_>,
        server: &mut dyn Server,
        sink: &mut dyn Sink,
    ) -> Result<(), Raised> {
        assert!(self.keeps(script), "it has been compiled");
        self.run_with(server, sink, |machine| machine.call(script.at, script.globals, keys, args))
    }

    /// Runs what `call` calls, which tells whether it has succeeded; writes its result to `sink`.
    #[inline]
    fn run_with(
        &mut self,
        server: &mut dyn Server,
        sink: &mut dyn Sink,
        call: impl FnOnce(&mut Machine) -> bool,
    ) -> Result<(), Raised> {
        let guard = Rc::clone(&self.guard);
        if guard.is_stopped() {
            // The last run has ended with a panic.
            let _ = guard.take_stop(&self.lua);
        }
        self.resp.set(ReplyVersion::Two);
        self.settings.reset();
        let is_done = guard.slot.lend(&mut *server, || call(&mut self.machine));
        let result = match guard.take_stop(&self.lua) {
            Some((why, place)) => Err(Raised { text: why.into(), place, was_counted: false }),
            None if is_done => {
                let (resp, stack) = (self.resp.get(), self.machine.stack());
                guard.slot.lend(server, || answer::write(stack, resp, &guard, sink));
                // A reply that was begun is ended, too.
                let _ = guard.take_stop(&self.lua);
                Ok(())
            }
            None => {
                let place = self.machine.take_place();
                Err(raised(&self.machine.take_error(&self.lua), place))
            }
        };
        self.machine.end();
        if self.lua.used_memory() > GARBAGE_MAX {
            self.machine.renew();
            let _ = self.lua.gc_collect();
        }
        result
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
        let place = text_of(&source).map(|source| (source.to_vec(), line));
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
            let was_counted = table.raw_get("ignore_error_stats_update").unwrap_or(false);
            let text = text.map_or_else(|| b"ERR unknown error".to_vec(), |text| text.to_vec());
            return Raised { text, place, was_counted };
        }
        Value::Nil => b"nil".to_vec(),
        Value::Boolean(value) => value.to_string().into(),
        Value::Error(error) => match Thrown::of(error) {
            Some(thrown) if thrown.is_table => {
                let Thrown { text, was_counted, .. } = thrown.clone();
                return Raised { text, place, was_counted };
            }
            Some(thrown) => thrown.text.clone(),
            None => base::message(error).into(),
        },
        other => text_of(other).map_or_else(|| other.type_name().into(), |text| text.to_vec()),
    };
    Raised { text: [b"ERR ", &text[..]].concat(), place, was_counted: false }
}
