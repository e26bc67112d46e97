// SPDX-License-Identifier: Apache-2.0
//! Looks up a command by its name, with a hash table that is built at compile time.
//!
//! How it works:
//!
//! 1. A name of up to 8 bytes is loaded as one 64-bit word, one of up to 24 bytes as three. A
//!    longer name is no command.
//! 2. The bytes of a word are converted to lower case together, and words are compared as integers.
//! 3. A multiplication turns the words into a hash.
//! 4. The hash table has a load factor of at most a quarter, so a name is found, or found missing,
//!    in the first slot or the next.
//!
//! Nothing is allocated.

use super::{COUNT, CommandId, TABLE};

/// A name in the form in which it is compared: its bytes in lower case, its length, and its
/// container. The words overlap for most lengths, and together they contain every byte.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    /// The whole name if it is [short](SHORT_MAX), else its first eight bytes.
    first: u64,
    /// The last eight bytes; 0 for a short name.
    last: u64,
    /// The eight bytes in the middle of a name that has more than 16, else 0.
    middle: u64,
    /// The length, and above it the container's number plus one, or 0.
    tail: u64,
}

/// The longest name that is one word.
const SHORT_MAX: usize = 8;
/// The longest name that a [`Key`] has room for.
const NAME_MAX: usize = 24;

const SLOTS: usize = (COUNT * 4).next_power_of_two();

const _: () = assert!(size_of::<Option<CommandId>>() == 2, "32 slots share a cache line");
const _: () = assert!(size_of::<Key>() == 32, "two keys share a cache line");

/// The keys by number.
static KEYS: [Key; COUNT] = {
    let mut keys = [Key::short(b"-", None); COUNT];
    let (mut row, mut container) = (0, None);
    while row < COUNT {
        let name = TABLE[row].name.as_bytes();
        let bar = position(name, b'|');
        keys[row] = if bar < name.len() {
            let (_, sub) = name.split_at(bar + 1);
            Key::new(sub, container)
        } else {
            container = Some(CommandId::ALL[row]);
            Key::new(name, None)
        };
        row += 1;
    }
    keys
};

/// The hash table of commands, with linear probing.
static COMMANDS: [Option<CommandId>; SLOTS] = {
    let mut commands = [None; SLOTS];
    let mut row = 0;
    while row < COUNT {
        let mut slot = KEYS[row].slot();
        while commands[slot].is_some() {
            slot = (slot + 1) % SLOTS;
        }
        commands[slot] = Some(CommandId::ALL[row]);
        row += 1;
    }
    commands
};

/// Where a byte is first, or the length.
pub(super) const fn position(bytes: &[u8], byte: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != byte {
        at += 1;
    }
    at
}

impl Key {
    const fn new(name: &[u8], container: Option<CommandId>) -> Self {
        if name.len() <= SHORT_MAX {
            Self::short(name, container)
        } else {
            Self::long(name, container)
        }
    }

    /// The key of a name of 1 to 8 bytes.
    #[inline]
    const fn short(name: &[u8], container: Option<CommandId>) -> Self {
        let len = name.len();
        assert!(len >= 1 && len <= SHORT_MAX);
        let first = if len < 4 {
            let (first, middle, last) = (name[0], name[len / 2], name[len - 1]);
            u64::from_le_bytes([first, middle, last, 0, 0, 0, 0, 0])
        } else {
            half(name, 0) | half(name, len - 4) << 32
        };
        Self { first: lower(first), last: 0, middle: 0, tail: tail(len, container) }
    }

    /// The key of a name of 9 to 24 bytes.
    #[inline]
    const fn long(name: &[u8], container: Option<CommandId>) -> Self {
        let len = name.len();
        assert!(len > SHORT_MAX && len <= NAME_MAX);
        let middle = if len <= 16 { 0 } else { lower(word(name, 8)) };
        Self {
            first: lower(word(name, 0)),
            last: lower(word(name, len - 8)),
            middle,
            tail: tail(len, container),
        }
    }

    #[inline]
    const fn slot(&self) -> usize {
        let mixed = self.first
            ^ self.last.rotate_left(23)
            ^ self.middle.rotate_left(41)
            ^ self.tail.rotate_left(57);
        // Multiplies by the golden ratio; the high bits of the product depend on all bits of the
        // input.
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
    }

    /// Whether it is the other, which is as short if this one is.
    #[inline]
    fn is<const SHORT: bool>(&self, other: &Self) -> bool {
        self.tail == other.tail
            && self.first == other.first
            && (SHORT || self.last == other.last && self.middle == other.middle)
    }

    /// The command with this key.
    #[inline]
    fn find<const SHORT: bool>(&self) -> Option<CommandId> {
        let mut slot = self.slot();
        loop {
            let command = COMMANDS[slot]?;
            if self.is::<SHORT>(&KEYS[command.index()]) {
                return Some(command);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

#[inline]
const fn tail(len: usize, container: Option<CommandId>) -> u64 {
    let container = match container {
        Some(id) => id.index() as u64 + 1,
        None => 0,
    };
    container << 8 | len as u64
}

/// Eight bytes of a name that has them.
#[inline]
const fn word(name: &[u8], at: usize) -> u64 {
    match name.split_at(at).1.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => 0,
    }
}

/// Four bytes of a name that has them.
#[inline]
const fn half(name: &[u8], at: usize) -> u64 {
    match name.split_at(at).1.first_chunk() {
        Some(bytes) => u32::from_le_bytes(*bytes) as u64,
        None => 0,
    }
}

/// Eight bytes in lower case, all at once.
///
/// A byte below 0x80 is an upper-case letter if adding 0x80 - `A` sets its high bit and adding
/// 0x7F - `Z` does not. The difference to lower case is 0x20, two places below the high bit.
#[inline]
const fn lower(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let high = EACH * 0x80;
    let low_bits = word & !high;
    let from_a = low_bits + EACH * (0x80 - b'A' as u64);
    let beyond_z = low_bits + EACH * (0x7F - b'Z' as u64);
    word | ((from_a & !beyond_z & !word & high) >> 2)
}

/// The command with this name, in any case. Containers have names, too; for sub-commands there is
/// [`find_sub`].
#[inline]
#[must_use]
pub fn find(name: &[u8]) -> Option<CommandId> {
    lookup(name, None)
}

/// The sub-command of a container with this name, in any case.
#[inline]
#[must_use]
pub fn find_sub(container: CommandId, name: &[u8]) -> Option<CommandId> {
    lookup(name, Some(container))
}

/// The command or sub-command that `container|sub` or `name` means, in any case.
#[must_use]
pub fn find_full(name: &[u8]) -> Option<CommandId> {
    match memchr::memchr(b'|', name) {
        Some(bar) => find_sub(find(&name[..bar])?, &name[bar + 1..]),
        None => find(name),
    }
}

/// The command that arguments which begin with these two mean: a sub-command if the first is a
/// container and there is a second.
#[inline]
#[must_use]
pub fn resolve(first: &[u8], second: Option<&[u8]>) -> Option<CommandId> {
    meant(find(first)?, second)
}

/// [`resolve`] for a first argument that names `command`.
#[inline]
pub(crate) fn meant(command: CommandId, second: Option<&[u8]>) -> Option<CommandId> {
    match second {
        Some(second) if command.is_container() => find_sub(command, second),
        _ => Some(command),
    }
}

#[inline]
fn lookup(name: &[u8], container: Option<CommandId>) -> Option<CommandId> {
    match name.len() {
        1..=SHORT_MAX => Key::short(name, container).find::<true>(),
        9..=NAME_MAX => Key::long(name, container).find::<false>(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn every_name_finds_its_own_row_in_any_case() {
        for id in table::all() {
            let name = id.spec().name;
            for name in [name.to_owned(), name.to_uppercase()] {
                assert_eq!(find_full(name.as_bytes()), Some(id), "{name}");
            }
        }
        assert_eq!(find(b"ZrAnGeByScOrE"), find(b"zrangebyscore"));
    }

    #[test]
    fn what_is_no_name_finds_nothing() {
        let long = [b'g'; NAME_MAX + 1];
        let unknown: [&[u8]; 12] = [
            b"",
            b"g",
            b"ge",
            b"gets",
            b"get ",
            b"get\0",
            b"\0get",
            b"client|id",
            b"id",
            b"g\xe5t",
            &long,
            &long[1..],
        ];
        for name in unknown {
            assert_eq!(find(name), None, "{}", name.escape_ascii());
        }
        let client = find(b"client").unwrap();
        assert_eq!(find_sub(client, b"get"), None, "a container has its own sub-commands");
        assert_eq!(find_sub(find(b"get").unwrap(), b"id"), None);
        assert_eq!(find_full(b"client|id|id"), None);
        assert_eq!(find_full(b"client|"), None);
    }

    #[test]
    fn bytes_that_differ_from_letters_by_a_bit_are_no_letters() {
        // Each of these becomes the name if its bit 0x20 is set.
        for (name, known) in [(&b"client|no\rtouch"[..], "client|no-touch"), (b"\x0eset", ".set")] {
            assert_eq!(find_full(name), None, "{known}");
        }
        for byte in 0..=255_u8 {
            let expected = u64::from_le_bytes([byte.to_ascii_lowercase(); 8]);
            assert_eq!(lower(u64::from_le_bytes([byte; 8])), expected, "{byte:#x}");
        }
    }

    #[test]
    fn names_of_all_lengths_have_keys_of_their_own() {
        let text = b"abcdefghijklmnopqrstuvwxyz";
        for len in 1..=NAME_MAX {
            let name = &text[..len];
            for at in 0..len {
                let mut other = name.to_vec();
                other[at] = b'-';
                assert!(Key::new(name, None) != Key::new(&other, None), "{len}, {at}");
            }
        }
    }

    #[test]
    fn a_name_is_found_within_a_few_steps() {
        let distance = |id: CommandId| {
            let home = KEYS[id.index()].slot();
            let place = COMMANDS.iter().position(|found| *found == Some(id)).unwrap();
            (place + SLOTS - home) % SLOTS
        };
        let steps: Vec<usize> = table::all().map(distance).collect();
        assert!(steps.iter().all(|steps| *steps <= 4), "{steps:?}");
        assert!(steps.iter().filter(|steps| **steps > 0).count() * 5 < COUNT, "{steps:?}");
    }

    #[test]
    fn sub_commands_are_resolved_with_their_containers() {
        let name = |first: &[u8], second| resolve(first, second).map(|id| id.spec().name);
        assert_eq!(name(b"config", Some(b"GET")), Some("config|get"));
        assert_eq!(name(b"config", Some(b"GOT")), None);
        assert_eq!(name(b"config", None), Some("config"));
        assert_eq!(name(b"command", None), Some("command"));
        assert_eq!(name(b"get", Some(b"id")), Some("get"));
    }
}
