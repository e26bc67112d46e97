// SPDX-License-Identifier: Apache-2.0
//! [`Link`]: a connection as the ring sees it: its operations under way, which may outlive it.
//!
//! A link outlives its connection until its operations have ended. INV-LATE: until then, its place and its
//! socket are not used again, so a late completion always finds the link it belongs to. A completion whose
//! generation differs from its link's would be a bug, and is dropped.

use super::parcel::Parcel;
use super::token::{Kind, Token};
use super::{FLOOD, MUCH, STREAK};
use crate::Seat;
use session::Stream;
use std::mem;

/// The state of receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiving {
    /// No operation receives or waits for input.
    Off,
    /// A multishot operation does.
    On,
    /// The operation was cancelled; completions of bytes received before are still to come.
    Ending,
}

/// Who receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The ring, into its buffers.
    Ring,
    /// The session reads its socket; the ring reports when there is something to read.
    Session,
}

/// Whether something may have come without being reported: see [`Uring::look_for_unreported`](super::Uring).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// It has not: nothing has come since it was looked for.
    None,
    /// Bytes have come since the last sweep.
    New,
    /// Bytes have come, but none since the last sweep.
    Old,
}

/// A connection's operations.
#[derive(Debug)]
pub(super) struct Link {
    place: u32,
    generation: u32,
    /// The connection's slot; `None` once it is removed.
    pub(super) slot: Option<usize>,
    pub(super) receiving: Receiving,
    /// Who receives now, or did last.
    pub(super) way: Way,
    /// Bytes that have arrived since its last turn.
    arrived: usize,
    doubt: Doubt,
    /// Number of consecutive turns with much input, up to [`STREAK`].
    streak: u8,
    /// An operation waits for the peer to hang up.
    pub(super) is_watched: bool,
    /// The worker drains: only the session itself still receives.
    pub(super) drains: bool,
    pub(super) parcel: Parcel,
    /// Operations under way, cancellations included.
    open: u32,
    /// The socket of a removed connection, kept until the operations have ended, and its place among the connections,
    /// which is free only then: their number bounds the descriptors.
    socket: Option<(Stream, Seat)>,
}

impl Link {
    /// A link at `place` for the connection in `slot`, which receives in this way until it has sent much.
    pub(super) fn new(place: usize, generation: u32, slot: usize, way: Way) -> Self {
        Link {
            place: u32::try_from(place).expect("fewer links than descriptors"),
            generation,
            slot: Some(slot),
            receiving: Receiving::Off,
            way,
            arrived: 0,
            doubt: Doubt::None,
            streak: if way == Way::Session { STREAK } else { 0 },
            is_watched: false,
            drains: false,
            parcel: Parcel::default(),
            open: 0,
            socket: None,
        }
    }

    /// The token of its operation of this kind.
    pub(super) fn token(&self, kind: Kind) -> Token {
        Token::new(kind, self.generation, self.place)
    }

    /// As [`Link::token`], and counts the operation, which is pushed now.
    pub(super) fn begin(&mut self, kind: Kind) -> Token {
        self.open += 1;
        self.token(kind)
    }

    /// Whether a completion belongs to one of this link's operations.
    pub(super) fn knows(&self, token: Token) -> bool {
        self.token(token.kind) == token
    }

    /// Records the last completion of an operation.
    pub(super) fn close(&mut self, kind: Kind) {
        self.open -= 1;
        match kind {
            Kind::Receive => self.receiving = Receiving::Off,
            Kind::Watch => self.is_watched = false,
            Kind::Bell | Kind::Send | Kind::Cancel | Kind::Datagrams => {}
        }
    }

    /// Records that `bytes` bytes have arrived.
    pub(super) fn arrive(&mut self, bytes: usize) {
        self.arrived += bytes;
        self.doubt = Doubt::New;
    }

    /// Called once for each sweep. Whether what is not reported is to be looked for: once after bytes have come, when no
    /// more have come from one sweep to the next.
    pub(super) fn is_in_doubt(&mut self) -> bool {
        let doubt = self.doubt;
        self.doubt = if doubt == Doubt::New { Doubt::Old } else { Doubt::None };
        doubt == Doubt::Old && self.receiving == Receiving::On && self.way == Way::Ring
    }

    /// Whether a next sweep has to call that.
    pub(super) fn will_be_in_doubt(&self) -> bool {
        self.doubt != Doubt::None && self.receiving == Receiving::On && self.way == Way::Ring
    }

    /// Records that the connection has had its turn with the bytes that had arrived.
    pub(super) fn take_turn(&mut self) {
        let arrived = mem::take(&mut self.arrived);
        if arrived > 0 && self.streak < STREAK {
            self.streak = match arrived {
                FLOOD.. => STREAK,
                MUCH.. => self.streak + 1,
                _ => 0,
            };
        }
    }

    /// Whether the last turns had so much input that the session is to read its socket itself. It stays so
    /// for good, because clients rarely change their habits, and little is lost if they do.
    pub(super) fn sends_much(&self) -> bool {
        self.streak >= STREAK
    }

    /// Leaves receiving to the session. Returns whether the ring receives now.
    pub(super) fn leave_to_session(&mut self) -> bool {
        self.streak = STREAK;
        self.receiving == Receiving::On && self.way == Way::Ring
    }

    /// Whether the ring receives although the session is to do so.
    pub(super) fn is_to_change_ways(&self) -> bool {
        self.way == Way::Ring && self.sends_much()
    }

    /// Called when the connection is removed; its socket stays open until the operations have
    /// ended.
    pub(super) fn part(&mut self, socket: (Stream, Seat)) {
        self.slot = None;
        self.socket = Some(socket);
    }

    /// Whether the connection is removed and all operations have ended: INV-LATE.
    pub(super) fn is_over(&self) -> bool {
        self.slot.is_none() && self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Census;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_link_stays_until_its_last_operation_has_ended() {
        let mut link = Link::new(3, 9, 77, Way::Ring);
        let receive = link.begin(Kind::Receive);
        link.receiving = Receiving::On;
        link.begin(Kind::Send);
        let (near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let census = Census::new(1);
        link.part((mio::net::UnixStream::from_std(near).into(), census.seat()));
        link.begin(Kind::Cancel);
        for kind in [Kind::Send, Kind::Cancel, Kind::Receive] {
            assert!(!link.is_over());
            link.close(kind);
        }
        assert!(link.is_over());
        assert_eq!(census.total(), 1);
        assert_eq!((link.receiving, link.knows(receive)), (Receiving::Off, true));
        std::io::Write::write_all(&mut far, b"x").expect("the socket is open until then");
    }

    #[test]
    fn much_has_to_come_before_several_turns_in_a_row() {
        let mut link = Link::new(0, 0, 0, Way::Ring);
        let mut turn = |pieces: &[usize]| {
            pieces.iter().for_each(|&bytes| link.arrive(bytes));
            link.take_turn();
            link.sends_much()
        };
        for _ in 0..3 {
            assert!(!turn(&[MUCH / 2, MUCH / 2]));
            assert!(!turn(&[]), "a turn before which nothing came says nothing");
        }
        assert!(!turn(&[MUCH - 1]));
        assert_eq!([MUCH; 4].map(|much| turn(&[much])), [false, false, false, true]);
        assert!(turn(&[1]), "for good");
        let mut link = Link::new(0, 0, 0, Way::Ring);
        link.arrive(FLOOD);
        link.take_turn();
        assert!(link.sends_much(), "at once");
    }

    #[test]
    fn what_is_not_reported_is_looked_for_once_when_bytes_have_stopped_coming() {
        let mut link = Link::new(0, 0, 0, Way::Ring);
        link.receiving = Receiving::On;
        assert!(!link.is_in_doubt());
        link.arrive(1);
        assert!(!link.is_in_doubt());
        link.arrive(1);
        let look = |link: &mut Link| (link.is_in_doubt(), link.will_be_in_doubt());
        let looks = [(); 4].map(|()| look(&mut link));
        assert_eq!(looks, [(false, true), (true, false), (false, false), (false, false)]);
    }

    #[test]
    fn a_late_completion_does_not_meet_the_next_link() {
        let first = Link::new(3, 9, 77, Way::Ring).begin(Kind::Receive);
        let second = Link::new(3, 10, 77, Way::Ring);
        assert!(!second.knows(first));
        assert!(!Link::new(4, 9, 77, Way::Ring).knows(first));
    }
}
