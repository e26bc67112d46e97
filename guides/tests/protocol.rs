// SPDX-License-Identifier: Apache-2.0
//! The protocol of `add-a-protocol.md` does what the guide says of it.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use buffer::{Pool, RecvBuf, SendBuf};
use clock::Clock;
use guides::{LINE_MAX, Lines, Shout};
use protocol::{ConnectionId, Context, Directory, Outbox, Parsed, Protocol};
use reactor::{Limits, Pipeline, Turn, turn};

#[test]
fn lines_come_back_in_capitals_until_bye() {
    let mut pipeline = Pipeline::new(Lines);
    let (mut recv, mut send, mut pool) = (RecvBuf::new(), SendBuf::new(), Pool::new(64, 64, 1));
    let (mut outbox, directory) = (Outbox::new(), Directory::new());
    let input = b"hello\nbye\nmore\n";
    recv.reserve(input.len(), &mut pool);
    recv.put(input);
    let (now, id) = (Clock::manual(0).now(), ConnectionId::new(0, 1));
    let mut context = Context::new(now, id, &mut outbox, &directory);
    let limits = Limits::default();
    let end = turn(&mut pipeline, &mut Shout, &mut recv, &mut send, &limits, &mut context);
    assert_eq!((end, send.front()), (Turn::Close, &b"HELLO\nBYE\n"[..]));
}

#[test]
fn a_line_is_borrowed_and_a_long_one_is_refused() {
    let parsed = Lines.parse(&mut (), b"hello\nworld\n").unwrap();
    assert!(matches!(parsed, Parsed::Request { request: b"hello", consumed: 6 }));
    assert!(Lines.parse(&mut (), &[b'x'; LINE_MAX + 1]).is_err());
}

/// The manifest that the guide shows names what the workspace has.
#[test]
fn the_manifests_dependencies_are_the_workspaces() {
    let guide = include_str!("../../docs/dev/add-a-protocol.md");
    let workspace = include_str!("../../Cargo.toml");
    let (_, manifest) = guide.split_once("[dependencies]\n").unwrap();
    let (manifest, _) = manifest.split_once("```").unwrap();
    let names = manifest.lines().filter_map(|line| line.strip_suffix(".workspace = true"));
    let missing = |name: &&str| !workspace.contains(&format!("\n{name} = {{"));
    assert_eq!(names.clone().filter(missing).collect::<Vec<_>>(), [""; 0]);
    assert!(names.count() > 2, "the guide has no manifest any more");
}
