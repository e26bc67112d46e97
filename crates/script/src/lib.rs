// SPDX-License-Identifier: Apache-2.0
//! Lua scripts as Redis runs them: the VM, its limits, and the libraries `cjson`, `cmsgpack`, `struct` and
//! `bit`.
//!
//! ```text
//!   source ──▶ Vm::compile ──▶ Vm::run ──▶ redis.call ──▶ Server::call ──▶ reply bytes ──▶ Lua values
//!                                 │
//!                                 └──▶ what the script returns ──▶ Sink ──▶ the reply
//! ```
//!
//! A [`Vm`] belongs to one thread. It knows nothing of connections and keys: the commands of a script are run by
//! a [`Server`], and its reply is written to a [`Sink`].
//!
//! Files: `vm.rs`: the VM and one run of a script; `prelude.lua`: what scripts see, the part of it that is written
//! in Lua; `vm/library.rs`, `library.lua`: libraries of functions; `native.rs`: Lua's C API, for what each run
//! does; `globals.rs`: which globals a script uses; `guard.rs`: limits of time; `server.rs`: the traits;
//! `texts.rs`: words of commands; `sha1.rs`: names of scripts; `slot.rs`: lends the server to Lua's callbacks;
//! `redis.rs`: the library `redis`; `answer.rs`: what a script returns. `base.rs`, `patterns.rs`: functions of Lua
//! that are safer here. `cjson.rs`, `cmsgpack.rs`, `packing.rs`, `bits.rs`: the libraries, with `arguments.rs`,
//! `number.rs` and `strtod.rs` for all of them.
//!
//! # What keeps hostile scripts out
//!
//! * RULE-TEXT: Lua never loads byte code. `load` and `loadstring` are replaced by functions that take text only.
//! * RULE-ANCHOR: the name of a chunk is a Lua string that is alive while the chunk is parsed: Lua 5.1's parser
//!   does not keep it alive itself (CVE-2025-49844).
//! * RULE-BOUND: `unpack` returns so many values that the stack has room for, and no range overflows
//!   (CVE-2025-46817).
//! * RULE-LIMIT: a VM has a memory limit. An allocation beyond it is an error of the script.
//! * RULE-STOP: every [`STEP`] instructions, and within functions that may take long, the server is asked whether
//!   the script may go on. After a refusal each instruction fails, so no `pcall` goes on for long.
//!
//! # Examples
//!
//! ```
//! use script::{Go, Level, ReplyVersion, Server, Sink, Texts, Vm};
//!
//! struct NoServer;
//! impl Server for NoServer {
//!     fn call(&mut self, _: Texts<'_>, _: ReplyVersion, reply: &mut dyn FnMut(&[u8])) -> Result<(), String> {
//!         reply(b"+PONG\r\n");
//!         Ok(())
//!     }
//!     fn may_run(&mut self, _: Texts<'_>) -> Result<bool, String> { Ok(true) }
//!     fn log(&mut self, _: Level, _: &[u8]) {}
//!     fn go_on(&mut self) -> Go { Go::On }
//! }
//!
//! let mut vm = Vm::new("8.0.0").expect("there is memory");
//! let sha = *b"0123456789012345678901234567890123456789";
//! vm.compile(&sha, b"return redis.call('ping').ok .. ARGV[1]").expect("it is Lua");
//! let mut reply = script::testing::TextReply::default();
//! let end = vm.run(&sha, &[], &[b"!"], &mut NoServer, &mut reply);
//! assert!(end.is_ok());
//! assert_eq!(reply.0, "\"PONG!\"");
//! ```

mod answer;
mod arguments;
mod base;
mod bits;
mod cjson;
mod cmsgpack;
mod globals;
mod guard;
mod native;
mod number;
mod packing;
mod patterns;
mod redis;
mod server;
pub mod sha1;
mod slot;
mod strtod;
pub mod testing;
mod texts;
mod vm;

pub use guard::STEP;
pub use server::{Go, Level, ReplyVersion, Server, Sink};
pub use texts::{TextSpan, Texts};
pub use vm::{
    CompileError, Compiled, FunctionFlags, LIBRARIES_MAX, LibraryVm, LoadError, MEMORY_MAX, Raised,
    Registered, Vm,
};
