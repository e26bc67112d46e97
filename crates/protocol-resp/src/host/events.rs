// SPDX-License-Identifier: Apache-2.0
//! [`Event`]: what happened to a key, for subscribers to key events (`notify-keyspace-events`).

/// The classes of events, as the letters of `notify-keyspace-events` select them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u32);

/// What happened to a key: a class, and the name under which it is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) class: Class,
    pub(crate) name: &'static str,
}

/// The letters, each with its bit. `A` stands for all classes of this list but `m` and `n`. `K`, `E`, `S`, `T`, `I` and
/// `V` are kinds of channels.
const LETTERS: [(u8, u32); 19] = [
    (b'K', Class::KEYSPACE),
    (b'E', Class::KEYEVENT),
    (b'g', Class::GENERIC.0),
    (b'$', Class::STRING.0),
    (b'l', Class::LIST.0),
    (b's', Class::SET.0),
    (b'h', Class::HASH.0),
    (b'z', Class::ZSET.0),
    (b'x', Class::EXPIRED.0),
    (b'e', Class::EVICTED.0),
    (b't', Class::STREAM.0),
    (b'd', Class::MODULE),
    (b'm', Class::KEY_MISS.0),
    (b'n', Class::NEW.0),
    (b'A', Class::ALL),
    (b'S', Class::SUBKEYSPACE),
    (b'T', Class::SUBKEYEVENT),
    (b'I', Class::SUBKEYSPACEITEM),
    (b'V', Class::SUBKEYSPACEEVENT),
];

impl Class {
    const KEYSPACE: u32 = 1;
    const KEYEVENT: u32 = 1 << 1;
    const MODULE: u32 = 1 << 3;
    const ALL: u32 = 0x0ffc;
    const SUBKEYSPACE: u32 = 1 << 14;
    const SUBKEYEVENT: u32 = 1 << 15;
    const SUBKEYSPACEITEM: u32 = 1 << 16;
    const SUBKEYSPACEEVENT: u32 = 1 << 17;
    /// Channels that name fields.
    const OF_FIELDS: u32 =
        Self::SUBKEYSPACE | Self::SUBKEYEVENT | Self::SUBKEYSPACEITEM | Self::SUBKEYSPACEEVENT;
    /// Commands on keys of any type.
    pub(crate) const GENERIC: Class = Class(1 << 4);
    /// String commands.
    pub(crate) const STRING: Class = Class(1 << 5);
    /// List commands.
    pub(crate) const LIST: Class = Class(1 << 6);
    /// Set commands.
    pub(crate) const SET: Class = Class(1 << 7);
    /// Hash commands.
    pub(crate) const HASH: Class = Class(1 << 8);
    /// Sorted set commands.
    pub(crate) const ZSET: Class = Class(1 << 9);
    /// Stream commands.
    pub(crate) const STREAM: Class = Class(1 << 2);
    /// Keys that have expired.
    pub(crate) const EXPIRED: Class = Class(1 << 10);
    /// Keys that were evicted.
    pub(crate) const EVICTED: Class = Class(1 << 11);
    /// Reads of keys that are not there.
    pub(crate) const KEY_MISS: Class = Class(1 << 12);
    /// New keys.
    pub(crate) const NEW: Class = Class(1 << 13);
}

impl Event {
    /// A key was removed.
    pub(crate) const DEL: Event = Event::of(Class::GENERIC, "del");
    /// A key's time has come.
    pub(crate) const EXPIRED: Event = Event::of(Class::EXPIRED, "expired");
    /// A key had to make room.
    pub(crate) const EVICTED: Event = Event::of(Class::EVICTED, "evicted");

    /// A key was made.
    pub(crate) const NEW: Event = Event::of(Class::NEW, "new");
    /// A key that was read is not there.
    pub(crate) const KEY_MISS: Event = Event::of(Class::KEY_MISS, "keymiss");
    /// The time of some of a hash's fields has come.
    pub(crate) const FIELD_EXPIRED: Event = Event::of(Class::HASH, "hexpired");

    /// The value of a key was changed in a way that subscribers are not told of.
    pub(crate) const UNTOLD: Event = Event::of(Class(0), "");

    /// An event of a class.
    pub(crate) const fn of(class: Class, name: &'static str) -> Self {
        Event { class, name }
    }
}

/// Which events are published, and on which channels: the value of `notify-keyspace-events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted(u32);

impl Wanted {
    /// Reads the letters; `None` when one is unknown.
    pub(crate) fn parse(letters: &[u8]) -> Option<Self> {
        letters.iter().try_fold(Wanted(0), |wanted, letter| {
            let (_, bits) = LETTERS.iter().find(|(known, _)| known == letter)?;
            Some(Wanted(wanted.0 | bits))
        })
    }

    /// The letters, in the order Redis shows them.
    pub(crate) fn letters(self) -> String {
        let mut text = String::new();
        let all = self.0 & Class::ALL == Class::ALL;
        if all {
            text.push('A');
        }
        for letter in b"g$lshzxetdKEmnSTIV" {
            let bits =
                LETTERS.iter().find(|(known, _)| known == letter).map_or(0, |(_, bits)| *bits);
            if self.0 & bits != 0 && !(all && bits & Class::ALL != 0) {
                text.push(char::from(*letter));
            }
        }
        text
    }

    /// As a number, to share between threads.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// The reverse of [`Wanted::bits`].
    pub(crate) fn from_bits(bits: u32) -> Self {
        Wanted(bits)
    }

    /// Whether any events are published.
    pub(crate) fn is_any(self) -> bool {
        self.0 & (Class::KEYSPACE | Class::KEYEVENT | Class::OF_FIELDS) != 0
    }

    /// Whether any channels name the fields that an event is of.
    pub(crate) fn names_fields(self) -> bool {
        self.0 & Class::OF_FIELDS != 0
    }

    /// Whether an event and its fields are published on the channel of their key.
    pub(super) fn is_subkeyspace(self) -> bool {
        self.0 & Class::SUBKEYSPACE != 0
    }

    /// Whether a key and its fields are published on the channel of their event.
    pub(super) fn is_subkeyevent(self) -> bool {
        self.0 & Class::SUBKEYEVENT != 0
    }

    /// Whether events are published on the channel of a key and a field.
    pub(super) fn is_subkeyspaceitem(self) -> bool {
        self.0 & Class::SUBKEYSPACEITEM != 0
    }

    /// Whether fields are published on the channel of their event and key.
    pub(super) fn is_subkeyspaceevent(self) -> bool {
        self.0 & Class::SUBKEYSPACEEVENT != 0
    }

    /// Whether events are published on the channel of their key.
    pub(super) fn is_keyspace(self) -> bool {
        self.0 & Class::KEYSPACE != 0
    }

    /// Whether keys are published on the channel of their event.
    pub(super) fn is_keyevent(self) -> bool {
        self.0 & Class::KEYEVENT != 0
    }

    pub(super) fn includes(self, class: Class) -> bool {
        self.0 & class.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_and_shown_as_redis_does() {
        for (given, shown) in [
            ("", ""),
            ("KEA", "AKE"),
            ("Kg$", "g$K"),
            ("Elshz", "lshzE"),
            ("KEAmn", "AKEmn"),
            ("VhTSI", "hSTIV"),
        ] {
            let wanted = Wanted::parse(given.as_bytes()).expect(given);
            assert_eq!(wanted.letters(), shown);
            assert_eq!(Wanted::from_bits(wanted.bits()), wanted);
        }
        assert_eq!(Wanted::parse(b"KQ"), None);
        assert!(!Wanted::parse(b"g$x").expect("letters").is_any(), "neither K nor E");
        assert!(Wanted::parse(b"hI").expect("letters").is_any(), "channels of fields");
    }
}
