// SPDX-License-Identifier: Apache-2.0
//! Streams.
//!
//! * `add.rs`: adding items, `message.rs`: only once though they come again, and `trim.rs`: removing the oldest.
//!   `edit.rs`: removing single ones, and `remove.rs`: with regard to consumer groups that need them.
//! * `range.rs`: reading by id. `read.rs`: reading what is new, and waiting for it, as `request.rs` says, up to
//!   `limits.rs`.
//! * `group.rs`: consumer groups. `read_group.rs`: reading for a consumer of one. `ack.rs`: what consumers have not
//!   acknowledged, `claim.rs`: giving it to others, and `give_back.rs`: to nobody.
//! * `info.rs`: what is known of a stream, and `info_groups.rs`: of its groups.
//! * `ids.rs`: ids as clients write and read them.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod ack;
mod add;
mod claim;
mod edit;
mod give_back;
mod group;
mod ids;
mod info;
mod info_groups;
mod limits;
mod message;
mod range;
mod read;
mod read_group;
mod remove;
mod request;
mod trim;

pub(crate) use ack::{xack, xpending};
pub(crate) use add::{xadd, xtrim};
pub(crate) use claim::{xautoclaim, xclaim};
pub(crate) use edit::{xdel, xsetid};
pub(crate) use give_back::xnack;
pub(crate) use group::{
    xgroup_create, xgroup_createconsumer, xgroup_delconsumer, xgroup_destroy, xgroup_setid,
};
pub(crate) use info::xinfo_stream;
pub(crate) use info_groups::{xinfo_consumers, xinfo_groups};
pub(crate) use message::xcfgset;
pub(crate) use range::{xlen, xrange, xrevrange};
pub(crate) use read::{is_ready, read_for, xread};
pub(crate) use read_group::{claimable_in, is_group_ready, read_group_for, xreadgroup};
pub(crate) use remove::{xackdel, xdelex};

use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Entry, Limits, StreamMut, Type};

/// Something happened to a stream.
const fn event(name: &'static str) -> Event {
    Event::of(Class::STREAM, name)
}

/// Counts a hit or a miss of a command that goes on either way, and publishes the miss.
fn look_up<V: View>(call: &mut Call<'_, V>, key: &[u8]) -> Done {
    if call.keys.get(key, Type::Stream)?.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// A stream has no such group.
fn no_group(key: &[u8], group: &[u8]) -> Fault {
    let parts: [&[u8]; 5] =
        [b"NOGROUP No such consumer group '", group, b"' for key name '", key, b"'"];
    Fault::made(parts.concat())
}

/// There is no such key, or no such group.
fn no_key_or_group(key: &[u8], group: &[u8], where_: &[u8]) -> Fault {
    let parts: [&[u8]; 6] =
        [b"NOGROUP No such key '", key, b"' or consumer group '", group, b"'", where_];
    Fault::made(parts.concat())
}

/// The stream of an entry that was found to be one.
fn stream_mut<'a>(entry: &'a mut Entry, limits: &'a Limits) -> Result<StreamMut<'a>, Fault> {
    entry.stream_mut(limits).ok_or(Fault::WRONG_TYPE)
}
