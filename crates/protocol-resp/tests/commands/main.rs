// SPDX-License-Identifier: Apache-2.0
//! What the commands answer: stories of command lines and their replies, told to the service over
//! the typed keyspace, and to redis-server or Valkey, in RESP2 and in RESP3.
//!
//! A group of commands has its stories in `stories/`; how they are written is said in
//! `test_support::story`.

mod caches;
mod clients;
mod cluster;
mod counted;
mod crowds;
mod exchange;
mod generated;
mod hot_keys;
mod logged;
mod many;
mod parameters;
mod random;
mod support;
mod times;

use support::stories;

stories!(harness);
stories!(key_events);
stories!(connection);
stories!(monitor);
stories!(pubsub);
stories!(tracking);
stories!(transactions);
#[cfg(feature = "scripts")]
stories!(scripts, valkey);
#[cfg(feature = "scripts")]
stories!(script_lua, valkey);
#[cfg(feature = "scripts")]
stories!(script_libraries, valkey);
#[cfg(feature = "scripts")]
stories!(functions);
stories!(acl, valkey);
stories!(server);
stories!(config);
stories!(counts);
stories!(strings);
stories!(newer_strings, valkey);
stories!(documented, valkey);
stories!(hash_import, ours);
stories!(subkey_events, ours);
stories!(newer_lists_and_sets, ours);
stories!(newer_typed, valkey);
stories!(generic);
stories!(sort);
stories!(lcs);
stories!(bitmaps);
stories!(hyperloglog);
stories!(geo);
stories!(serial);
stories!(hashes);
stories!(sets);
stories!(field_expiry, ours);
stories!(lists);
stories!(list_events);
stories!(list_waits);
stories!(hash_events);
stories!(set_events);
stories!(sorted_sets);
stories!(sorted_set_events);
stories!(sorted_set_ranges);
stories!(sorted_set_algebra);
stories!(sorted_set_waits);
stories!(streams);
stories!(stream_groups);
stories!(newer_streams, ours);
stories!(stream_waits);
stories!(stream_events);
