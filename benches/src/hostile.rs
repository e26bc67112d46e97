// SPDX-License-Identifier: Apache-2.0
//! Hostile commands: every command of the table with arguments at the edges of their types, from many
//! clients, against servers with little memory. No server may crash, stall, or leak memory or connections.
//!
//! * [`forge`]: requests from the syntax in the table. `words.rs`: values at the edges.
//! * [`contract`]: commands that are left out, and why.
//! * [`memcache`]: requests of that protocol.
//! * [`attacker`]: clients that send them and leave in the middle of anything.
//! * [`heartbeat`]: connections that tell whether each worker still serves, by its own time.
//! * [`siege`]: servers and policies, and what must hold during and after.

pub mod attacker;
pub mod contract;
pub mod forge;
pub mod heartbeat;
pub mod memcache;
pub mod siege;
mod words;
