// SPDX-License-Identifier: Apache-2.0
//! Sets of a command's properties: flags, categories, and what it does to a key.
//!
//! Each is an integer with a bit for each member, in the order in which `COMMAND` lists them.

/// Declares a set: its members, with the words by which clients know them. A member without a word
/// is for the server alone.
macro_rules! bit_set {
    (
        $(#[$about:meta])*
        $set:ident($bits:ty) { $( $(#[$member_about:meta])* $member:ident = $word:literal, )* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $set($bits);

        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Position { $( $member, )* Count }
            assert!(Position::Count as u32 <= <$bits>::BITS);

            impl $set {
                $(
                    $(#[$member_about])*
                    pub const $member: Self = Self(1 << Position::$member as u32);
                )*
            }
        };

        impl $set {
            /// The empty set.
            pub const NONE: Self = Self(0);

            /// All members, with a word or without.
            const ALL: &'static [(Self, &'static str)] = &[$( (Self::$member, $word) ),*];

            /// This set and the members of another.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Whether all members of another set are in this one.
            #[must_use]
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any member of another set is in this one.
            #[must_use]
            pub const fn meets(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// All members with their words, in order.
            pub fn known() -> impl Iterator<Item = (Self, &'static str)> + Clone {
                Self::ALL.iter().copied().filter(|(_, word)| !word.is_empty())
            }

            /// The words of the members, in order.
            pub fn words(self) -> impl Iterator<Item = &'static str> + Clone {
                Self::known().filter(move |(member, _)| self.has(*member)).map(|(_, word)| word)
            }

            /// The member with this word, in any case.
            #[must_use]
            pub fn named(word: &[u8]) -> Option<Self> {
                let same = |known: &str| known.as_bytes().eq_ignore_ascii_case(word);
                Self::known().find(|(_, known)| same(known)).map(|(member, _)| member)
            }
        }
    };
}

bit_set! {
    /// What must be known of a command before it is carried out.
    Flags(u64) {
        /// May change data.
        WRITE = "write",
        /// Reads data and changes none.
        READONLY = "readonly",
        /// May need more memory; refused when there is none.
        DENYOOM = "denyoom",
        /// For those who run the server.
        ADMIN = "admin",
        /// About channels.
        PUBSUB = "pubsub",
        /// Not for scripts.
        NOSCRIPT = "noscript",
        /// May wait for others.
        BLOCKING = "blocking",
        /// Answered while data is being loaded.
        LOADING = "loading",
        /// Answered by a replica that has lost its primary.
        STALE = "stale",
        /// Not shown by `MONITOR`.
        SKIP_MONITOR = "skip_monitor",
        /// Not in the slow log.
        SKIP_SLOWLOG = "skip_slowlog",
        /// Allowed for a slot that is on its way to this node.
        ASKING = "asking",
        /// Takes constant or logarithmic time.
        FAST = "fast",
        /// As `FAST` if its request is short. Clients do not know it of these commands.
        BRIEF = "",
        /// Allowed before the client has said who it is.
        NO_AUTH = "no_auth",
        /// Works without keys too, although it can have some.
        NO_MANDATORY_KEYS = "no_mandatory_keys",
        /// Refused while data is being loaded in the background.
        NO_ASYNC_LOADING = "no_async_loading",
        /// Not allowed in a transaction.
        NO_MULTI = "no_multi",
        /// Where its keys are depends on other arguments. Follows from the key specs.
        MOVABLEKEYS = "movablekeys",
        /// Answered while a script takes long.
        ALLOW_BUSY = "allow_busy",
        /// Works on keys that are not among its arguments, perhaps on all.
        ARBITRARY_KEYS = "",
        /// Is sent by servers, not by people.
        SYSTEM = "",
        /// Lets its client hold memory from then on: keys, names.
        HOLDS = "",
        /// Allowed for a client that listens to channels in RESP2, where messages and replies look alike.
        FOR_SUBSCRIBERS = "",
        /// Carried out at once between `MULTI` and `EXEC`, too.
        NEVER_QUEUED = "",
        /// Tells others of something without changing data: a pause of writes holds it, too.
        MAY_REPLICATE = "",
        /// Tells of the keyspace as a whole, and is given its statistics.
        NEEDS_STATS = "",
        /// Changes how the requests behind it are parsed.
        ENDS_BATCH = "",
        /// Counts as a use of its keys even for a client that leaves no trace (`CLIENT NO-TOUCH`).
        ALWAYS_TOUCHES = "",
        /// What `CLIENT CACHING` said still applies after it.
        HOLDS_CACHING = "",
        /// Runs a script, whose commands may need memory.
        RUNS_SCRIPT = "",
        /// Carried out here while the slot of its keys moves, wherever the keys are.
        MOVES_SLOTS = "",
        /// Lists the sub-commands of its container, and comes last in that list.
        HELP = "",
    }
}

bit_set! {
    /// What kinds of command a command belongs to; users are allowed or denied whole kinds.
    Categories(u32) {
        /// Keys, whatever their values are.
        KEYSPACE = "keyspace",
        /// Reads data.
        READ = "read",
        /// Changes data.
        WRITE = "write",
        /// Sets.
        SET = "set",
        /// Sorted sets.
        SORTED_SET = "sortedset",
        /// Lists.
        LIST = "list",
        /// Hashes.
        HASH = "hash",
        /// Strings.
        STRING = "string",
        /// Bitmaps.
        BITMAP = "bitmap",
        /// HyperLogLogs.
        HYPERLOGLOG = "hyperloglog",
        /// Places on a map.
        GEO = "geo",
        /// Streams.
        STREAM = "stream",
        /// Channels.
        PUBSUB = "pubsub",
        /// For those who run the server.
        ADMIN = "admin",
        /// Takes constant or logarithmic time.
        FAST = "fast",
        /// Everything else.
        SLOW = "slow",
        /// May wait for others.
        BLOCKING = "blocking",
        /// May do harm, or stall the server.
        DANGEROUS = "dangerous",
        /// Connections.
        CONNECTION = "connection",
        /// Transactions.
        TRANSACTION = "transaction",
        /// Scripts.
        SCRIPTING = "scripting",
    }
}

bit_set! {
    /// What a command does to a key and its value.
    KeyFlags(u16) {
        /// Leaves the value as it is.
        RO = "RO",
        /// Changes the value, or how it is kept.
        RW = "RW",
        /// Overwrites the value without a look at it.
        OW = "OW",
        /// Removes the key.
        RM = "RM",
        /// Returns, copies or moves what users have stored.
        ACCESS = "access",
        /// Changes what users have stored.
        UPDATE = "update",
        /// Adds to what users have stored and overwrites none of it.
        INSERT = "insert",
        /// Removes some of what users have stored.
        DELETE = "delete",
        /// Is no key, but is routed like one.
        NOT_KEY = "not_key",
        /// There may be more keys than this spec finds.
        INCOMPLETE = "incomplete",
        /// Other arguments may change what is done to the key.
        VARIABLE = "variable_flags",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_in_order_and_without_what_is_for_the_server_alone() {
        let flags = Flags::FAST.with(Flags::ARBITRARY_KEYS).with(Flags::WRITE);
        assert_eq!(flags.words().collect::<Vec<_>>(), ["write", "fast"]);
        assert!(flags.has(Flags::ARBITRARY_KEYS) && !flags.has(Flags::READONLY));
        assert!(!flags.has(Flags::WRITE.with(Flags::READONLY)), "all of them, not any");
        assert_eq!(Flags::NONE.words().count(), 0);
    }

    #[test]
    fn a_word_names_its_member_in_any_case() {
        assert_eq!(Categories::named(b"SortedSet"), Some(Categories::SORTED_SET));
        assert_eq!(Categories::named(b"sorted_set"), None);
        assert_eq!(Flags::named(b""), None, "what has no word cannot be named");
        assert_eq!(Categories::known().count(), 21);
    }
}
