// SPDX-License-Identifier: Apache-2.0
//! The house rules of the workspace, as checks; and the packages of its programs ([`Dist`]).
//!
//! `cargo xtask tidy` prints each breach as `path:line: rule: what to do`. `cargo test --workspace`
//! runs the same checks, so a breach fails the build.
//!
//! | rule | file | in one sentence |
//! |---|---|---|
//! | `layering` | `checks/layering.rs` | a crate depends on lower layers only |
//! | `naming` | `checks/naming.rs` | a folder has its package's name, and no crate is a hub |
//! | `file-size` | `checks/file_size.rs` | a source file has at most 800 lines |
//! | `function-size` | `checks/function_size.rs` | a function has at most 100 lines |
//! | `licence` | `checks/licence.rs` | a source file begins with the licence |
//! | `safety` | `checks/safety.rs` | unsafe code is justified, and only in the files made for it |
//! | `metric-names` | `checks/metric_names.rs` | metric names are unique and in snake_case |
//! | `leftovers` | `checks/leftovers.rs` | no unfinished work without a reason, no debug print |
//! | `links` | `checks/links.rs` | a relative link in a document leads to a file, and to a heading that it has |
//! | `mentions` | `checks/mentions.rs` | a name beside a link to a Rust file is defined there |
//! | `decisions` | `checks/decisions.rs` | a decision record has number, date and status |
//! | `type-names` | `checks/type_names.rs` | a type's name is defined in two crates at most |
//! | `glossary` | `checks/glossary.rs` | the glossary says each word once, with one meaning |
//! | `readmes` | `checks/readmes.rs` | the README of a published package is the documentation of its crate |
//!
//! [`Workspace`] holds what the checks look at: packages from `cargo metadata`, sources and
//! documents from the file system. `scan.rs` tells code from comments and strings, so that no check
//! is fooled by either. Each check is a function from a workspace to [`Finding`]s and knows nothing
//! of the others.
//!
//! ```
//! use xtask::{Source, Workspace};
//!
//! let mut workspace = Workspace::default();
//! workspace.sources.push(Source::new("crates/a/src/lib.rs", "fn a() {}\n"));
//! assert_eq!(
//!     xtask::check(&workspace)[0].to_string(),
//!     "crates/a/src/lib.rs:1: licence: begin the file with \
//!      `// SPDX-License-Identifier: Apache-2.0`"
//! );
//! ```

#![forbid(unsafe_code)]

mod checks;
mod dist;
mod finding;
mod readme;
mod scan;
mod workspace;

pub use checks::check;
pub use dist::Dist;
pub use finding::{Finding, Severity};
pub use readme::readmes;
pub use scan::Scan;
pub use workspace::{Dependency, DependencyKind, Document, Package, Source, Workspace};
