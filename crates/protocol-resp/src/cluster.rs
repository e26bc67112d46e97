// SPDX-License-Identifier: Apache-2.0
//! Clusters: which node has which keys, as a file says, and where a client is sent that asks the wrong one.
//!
//! ```text
//!  nodes.conf ──▶ nodes_file ──▶ Topology ──▶ Route::decide ──▶ here, or MOVED, ASK, CROSSSLOT ...
//!                                    ▲
//!                 Identity ──────────┘ which of the nodes is this server?
//! ```
//!
//! * `slots.rs`: from a key to its slot. `node.rs`: a node, and how it is written.
//! * `nodes_file.rs`: reads a file of nodes. `topology.rs`: the nodes and their slots.
//! * `identity.rs`: which of the nodes this server is. `route.rs`: who serves a request.
//!
//! Nothing here decides who is a node: a person, or a program that writes the file, does.

pub(crate) mod identity;
pub(crate) mod node;
mod nodes_file;
pub(crate) mod route;
pub(crate) mod slots;
pub(crate) mod topology;

pub use nodes_file::FILE_BYTES_MAX;
pub use topology::Topology;
