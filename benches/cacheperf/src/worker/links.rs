// SPDX-License-Identifier: Apache-2.0
//! [`Links`]: which connections are lost, and when each is tried again. Without sockets and without a
//! clock.

/// The pause before a lost connection is tried again; each attempt without a reply doubles it.
const PAUSE_MIN_NS: u64 = 10_000_000;
/// The longest pause.
const PAUSE_MAX_NS: u64 = 500_000_000;
/// An attempt without a reply is given up after this time.
const ATTEMPT_NS: u64 = 2_000_000_000;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has had a reply.
    Up,
    /// It is lost, and is tried at this time.
    Down(u64),
    /// It is being opened, and is given up at this time.
    Opening(u64),
    /// It is open, and has had no reply yet. If the server closes it now, the server is not back.
    Fresh,
    /// Its lane has no more requests.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    state: State,
    attempts: usize,
}

/// Which connections of a thread are lost, and when each is tried again.
#[derive(Debug)]
pub(super) struct Links {
    links: Vec<Link>,
    /// Those that are not up.
    missing: usize,
    /// Since when none is up.
    dark_since: Option<u64>,
    /// How long none may be up; zero is that none is tried again.
    give_up_after_ns: u64,
}

impl Links {
    /// All are up.
    pub(super) fn new(count: usize, give_up_after_ns: u64) -> Self {
        let links = vec![Link { state: State::Up, attempts: 0 }; count];
        Links { links, missing: 0, dark_since: None, give_up_after_ns }
    }

    /// Whether nothing is to be done.
    #[inline]
    pub(super) fn are_up(&self) -> bool {
        self.missing == 0
    }

    /// Whether lost connections are tried again.
    pub(super) fn come_back(&self) -> bool {
        self.give_up_after_ns > 0
    }

    /// A connection is lost, or an attempt to open it has failed.
    pub(super) fn lost(&mut self, link: usize, now: u64) {
        let pause = PAUSE_MIN_NS << self.links[link].attempts.min(16);
        self.set(link, State::Down(now + pause.min(PAUSE_MAX_NS)), now);
        self.links[link].attempts += 1;
    }

    /// A connection is lost that nobody needs any more.
    pub(super) fn over(&mut self, link: usize, now: u64) {
        self.set(link, State::Over, now);
    }

    /// A connection whose time has come, and the number of the attempt. It is being opened from here on.
    pub(super) fn next_due(&mut self, now: u64) -> Option<(usize, usize)> {
        let due = |link: &Link| match link.state {
            State::Down(at) | State::Opening(at) => at <= now,
            _ => false,
        };
        let link = self.links.iter().position(due)?;
        self.set(link, State::Opening(now + ATTEMPT_NS), now);
        Some((link, self.links[link].attempts))
    }

    pub(super) fn is_opening(&self, link: usize) -> bool {
        matches!(self.links[link].state, State::Opening(_))
    }

    /// A connection is open.
    pub(super) fn opened(&mut self, link: usize, now: u64) {
        self.set(link, State::Fresh, now);
    }

    /// A reply has come.
    #[inline]
    pub(super) fn replied(&mut self, link: usize, now: u64) {
        if self.missing > 0 && self.links[link].state == State::Fresh {
            self.set(link, State::Up, now);
            self.links[link].attempts = 0;
        }
    }

    /// When there is something to do next.
    pub(super) fn wake_at(&self) -> u64 {
        if self.missing == 0 {
            return u64::MAX;
        }
        let tries = self.links.iter().map(|link| match link.state {
            State::Down(at) | State::Opening(at) => at,
            _ => u64::MAX,
        });
        tries.min().unwrap_or(u64::MAX).min(self.hopeless_at())
    }

    /// Whether nobody could be reached for too long.
    pub(super) fn are_hopeless(&self, now: u64) -> bool {
        now >= self.hopeless_at()
    }

    fn hopeless_at(&self) -> u64 {
        let since = self.dark_since.filter(|_| self.come_back());
        since.map_or(u64::MAX, |since| since.saturating_add(self.give_up_after_ns))
    }

    fn set(&mut self, link: usize, state: State, now: u64) {
        let was = std::mem::replace(&mut self.links[link].state, state);
        self.missing -= usize::from(was != State::Up);
        self.missing += usize::from(state != State::Up);
        if self.missing < self.links.len() {
            self.dark_since = None;
        } else if self.dark_since.is_none() {
            self.dark_since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn pauses_grow_until_there_is_a_reply() {
        let mut links = Links::new(2, 60_000 * MS);
        let (mut now, mut pauses) = (0, Vec::new());
        for attempt in 1..=8 {
            links.lost(0, now);
            assert_eq!(links.next_due(links.wake_at() - 1), None);
            pauses.push((links.wake_at() - now) / MS);
            now = links.wake_at();
            assert_eq!(links.next_due(now), Some((0, attempt)));
            assert!(links.is_opening(0) && !links.is_opening(1));
            // A server that takes connections and hangs up is not back.
            links.opened(0, now);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 500, 500]);
        links.replied(0, now);
        assert!(links.are_up());
        assert_eq!(links.wake_at(), u64::MAX);
        links.lost(0, now);
        assert_eq!(links.wake_at() - now, 10 * MS);
    }

    #[test]
    fn an_attempt_that_leads_to_nothing_is_made_again() {
        let mut links = Links::new(1, 60_000 * MS);
        links.lost(0, 0);
        assert_eq!(links.next_due(10 * MS), Some((0, 1)));
        assert_eq!(links.next_due(2_009 * MS), None);
        assert_eq!(links.next_due(2_010 * MS), Some((0, 1)));
    }

    #[test]
    fn hope_ends_when_nobody_was_reached_for_too_long() {
        let mut links = Links::new(2, 1_000 * MS);
        links.lost(0, 0);
        assert!(!links.are_hopeless(5_000 * MS), "the other is up");
        links.lost(1, 5_000 * MS);
        assert!(!links.are_hopeless(5_999 * MS) && links.are_hopeless(6_000 * MS));
        links.opened(0, 5_500 * MS);
        assert!(links.are_hopeless(6_000 * MS), "it has said nothing");
        links.replied(0, 5_600 * MS);
        assert!(!links.are_hopeless(9_000 * MS));
        links.over(0, 9_000 * MS);
        assert!(links.are_hopeless(10_000 * MS));
        assert!(!Links::new(1, 0).come_back());
    }
}
