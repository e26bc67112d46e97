// SPDX-License-Identifier: Apache-2.0
//! [`Topics`]: what a client may watch.

use std::ops::BitOr;

/// What a watcher is shown: a set of kinds of lines.
///
/// ```
/// use protocol_memcache::Topics;
///
/// let topics = Topics::named(b"fetchers").unwrap_or_default() | Topics::MUTATIONS;
/// assert!(topics.have(Topics::FETCHERS) && !topics.have(Topics::DELETIONS));
/// assert_eq!(Topics::named(b"everything"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topics(u32);

/// The names, with what is shown under them. Under the last five memcached shows what there is nothing of here.
const NAMES: [(&[u8], Topics); 10] = [
    (b"fetchers", Topics::FETCHERS),
    (b"mutations", Topics::MUTATIONS),
    (b"evictions", Topics::EVICTIONS),
    (b"connevents", Topics::CONNEVENTS),
    (b"deletions", Topics::DELETIONS),
    (b"sysevents", Topics::NONE),
    (b"proxyreqs", Topics::NONE),
    (b"proxyevents", Topics::NONE),
    (b"proxyuser", Topics::NONE),
    (b"rawcmds", Topics::NONE),
];

impl Topics {
    /// Nothing.
    pub const NONE: Topics = Topics(0);
    /// Look-ups of items.
    pub const FETCHERS: Topics = Topics(1);
    /// Items that are stored, or are not.
    pub const MUTATIONS: Topics = Topics(2);
    /// Items that leave to make room.
    pub const EVICTIONS: Topics = Topics(4);
    /// Connections that come and go.
    pub const CONNEVENTS: Topics = Topics(8);
    /// Items that clients remove.
    pub const DELETIONS: Topics = Topics(16);

    /// What has this name in a line of `watch`; `None` if nothing has.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        NAMES.iter().find(|(of, _)| *of == name).map(|(_, topics)| *topics)
    }

    /// Whether these have any of `others`.
    #[inline]
    #[must_use]
    pub const fn have(self, others: Topics) -> bool {
        self.0 & others.0 != 0
    }

    /// As bits, of which the lower five are used.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for Topics {
    type Output = Topics;

    fn bitor(self, others: Topics) -> Topics {
        Topics(self.0 | others.0)
    }
}
