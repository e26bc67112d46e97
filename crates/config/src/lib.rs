// SPDX-License-Identifier: Apache-2.0
//! Typed TOML configuration with errors that name the file, the line and the remedy.
//!
//! A server describes its settings as plain structs and loads a file into them:
//!
//! ```
//! use config::{ByteSize, Span};
//! use serde::{Deserialize, Serialize};
//! use std::time::Duration;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! #[serde(default, deny_unknown_fields)]
//! struct Settings {
//!     port: u16,
//!     memory: ByteSize,
//!     idle: Span,
//! }
//!
//! impl Default for Settings {
//!     fn default() -> Self {
//!         Settings { port: 11211, memory: ByteSize(64 << 20), idle: Span(Duration::from_secs(60))
//!     } }
//! }
//!
//! let settings: Settings = config::parse("memory = \"4GiB\"\nidle = \"250ms\"", "my.toml")?;
//! assert_eq!(settings.memory, ByteSize(4 << 30));
//! assert_eq!(settings.port, 11211);
//!
//! // The effective settings, as TOML that loads back to the same value.
//! assert_eq!(config::print(&settings)?, "port = 11211\nmemory = \"4GB\"\nidle = \"250ms\"\n");
//!
//! // A mistake is told where it is and what to do about it.
//! let error = config::parse::<Settings>("# mine\nprot = 1", "my.toml").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "my.toml:2:1: unknown key \"prot\" at the top level; did you mean \"port\"?\n  \
//!        |\n\
//!      2 | prot = 1\n  \
//!        | ^^^^"
//! );
//! # Ok::<(), config::Error>(())
//! ```
//!
//! A server's sections are written with [`section!`]: a table with one row for each key, from which the
//! struct, its check and its documentation are generated.
//!
//! # What a settings struct must look like
//!
//! - `#[derive(Deserialize)]`, and `Serialize` if it is to be printed.
//! - `#[serde(default)]` on the struct with a `Default` of its own, so that every key may be left
//!   out.
//! - Named fields all the way down: nested structs become tables, `Vec`s of structs arrays of
//!   tables, `Option`s may be left out, enums of unit variants are strings from a list.
//! - No `#[serde(flatten)]`, `#[serde(untagged)]` or `#[serde(tag = ..)]`: these hide the names of
//!   the fields from the deserializer, so a misspelt key below them goes unnoticed.
//! - A rule between several keys goes into `#[serde(try_from = "Raw")]`: its error text is shown
//!   with the place of the table.
//!
//! `#[serde(deny_unknown_fields)]` is welcome but not needed: this crate refuses unknown keys
//! either way, at every level, and reports all of them at once.
//!
//! # How it works
//!
//! The `toml` crate parses the text into a tree in which every key and value has its position. This
//! crate's own deserializer walks that tree. Serde passes it the field names of each struct it
//! enters, so it finds unknown keys before the struct does and can suggest the name that was meant; it
//! attaches the position and the key to every error that comes back. It never parses the message of
//! another library.
//!
//! # What is where
//!
//! | file | what |
//! |---|---|
//! | `error.rs` | [`Error`] and [`Problem`], what a caller sees |
//! | `load.rs` | from bytes to settings: read, parse, deserialize, report |
//! | `de.rs` | the deserializer over one value; `de/access.rs` walks tables, arrays and enums |
//! | `de/fault.rs` | what went wrong inside serde, with its place |
//! | `depth.rs` | the bound on nesting |
//! | `path.rs` | where in the tree a value is, written as the operator wrote it |
//! | `source.rs` | the text: lines, columns, and the excerpt with a caret |
//! | `suggest.rs` | "did you mean" |
//! | `section.rs` | [`section!`]: a section as a table of keys; `section/row.rs`, `section/form.rs` |
//! | `page.rs` | documentation and commented files generated from the tables |
//! | `quantity.rs` | numbers with units; [`ByteSize`] and [`Span`] are in `size.rs` and `span.rs` |
//!
//! # Limits
//!
//! A file has at most [`MAX_BYTES`] and 32 levels of tables and arrays; the first [`MAX_PROBLEMS`]
//! problems are shown; excerpts of lines, keys and values are bounded. No input makes this crate
//! panic.

#![forbid(unsafe_code)]

mod de;
mod depth;
mod error;
mod load;
pub mod page;
mod path;
mod quantity;
mod section;
mod size;
mod source;
mod span;
mod suggest;

pub use error::{Error, Position, Problem, ProblemKind};
pub use load::{MAX_BYTES, MAX_PROBLEMS, STANDARD_INPUT, load, name, parse, print, read};
pub use section::{Bounded, Defaults, Form, Row, Section, Spec, Table};
pub use size::ByteSize;
pub use span::Span;
pub use suggest::closest;
