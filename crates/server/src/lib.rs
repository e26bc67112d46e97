// SPDX-License-Identifier: Apache-2.0
//! Builds a process: listeners, workers, signals and lifecycle.
//!
//! ```text
//!   thread     does
//!   main       waits for a signal or a failed thread, then ends the process in order
//!   signals    sleeps until a signal comes
//!   reload     reads certificates again
//!   log        writes log files
//!   admin      HTTP, recent percentiles
//!   listener   accepts; hands each socket to the least loaded worker
//!   worker 0…N own event loop, own connections, own service
//! ```
//!
//! Where to look:
//!
//! * [`Builder`] (`builder.rs`): configures and starts a server process.
//! * [`Process`] (`process.rs`): a running server, and its graceful stop.
//! * [`Controls`] (`controls.rs`): what a service may change in the process it runs in.
//! * [`settings`]: the configuration sections that all servers share.
//! * [`cli`]: the command line that all servers share.
//! * [`dialect`]: memcached's flags and Redis's parameters, which set the same settings.
//! * `program.rs`: [`Builder::run`], for a server that is the whole program, and what only such a server
//!   needs: `signals.rs`, `reload.rs`, `logging.rs`, `files.rs` (descriptors), `background.rs`, `user.rs`,
//!   `arguments.rs`.
//!
//! `examples/shout.rs` is a custom protocol and its server in under 100 lines.
//!
//! ```no_run
//! use server::{Builder, Endpoint};
//! # use buffer::SendBuf;
//! # use protocol::{Context, Control, ErrorReply, Execute, Malformed, Parsed, Protocol};
//! # struct Mine;
//! # impl Protocol for Mine {
//! #     const NAME: &'static str = "mine";
//! #     const TOO_MANY_CONNECTIONS: &'static [u8] = b"";
//! #     type Request<'a> = ();
//! #     type Cursor = ();
//! #     fn parse<'a>(&self, _: &mut (), _: &'a [u8]) -> Result<Parsed<()>, Malformed> {
//! #         Ok(Parsed::NeedMore { at_least: 1 })
//! #     }
//! #     fn too_large(&self) -> ErrorReply {
//! #         ErrorReply::NONE
//! #     }
//! # }
//! # struct MyService;
//! # impl Execute<Mine> for MyService {
//! #     fn execute(&mut self, _: &mut Mine, _: (), _: &mut SendBuf, _: &mut Context<'_>) -> Control {
//! #         Control::Continue
//! #     }
//! # }
//!
//! let process = Builder::new("mine", "1.0.0")
//!     .listen(Endpoint::Tcp("127.0.0.1:0".parse()?), false)
//!     .workers(2)
//!     .spawn(|_tag| Mine, |_worker| MyService)?;
//! println!("listening on {:?}", process.address());
//! process.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod arguments;
mod background;
mod builder;
#[cfg(feature = "cli")]
pub mod cli;
mod controls;
mod datagrams;
#[cfg(feature = "cli")]
pub mod dialect;
mod error;
mod files;
#[allow(unsafe_code)]
mod heap;
mod logging;
mod port_file;
mod process;
mod program;
mod reload;
pub mod settings;
mod signals;
mod user;

pub use background::Background;
pub use builder::Builder;
pub use controls::Controls;
pub use error::Error;
pub use process::{Process, Stopper};
pub use reactor::{AnswerLimits, Endpoint, Limits, Options, Output, OutputLimit, Quota};
pub use session::{ClientAuth, PeerStream, PeerTls, TlsAcceptor, TlsOptions, TlsVersion};
