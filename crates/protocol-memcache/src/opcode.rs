// SPDX-License-Identifier: Apache-2.0
//! The opcodes of the binary protocol: the table by which its requests are checked and counted.
//!
//! A row says what a request of the opcode consists of. What does not fit its row is refused, and the
//! connection closes, because the client and the server do not mean the same by the bytes.

use crate::command::CommandId;

/// One opcode: its row of the table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpcodeRow {
    /// The opcode.
    pub opcode: Opcode,
    /// Its name, as the specification of the protocol has it.
    pub name: &'static str,
    /// How many bytes of extras precede the key: one of these. Requests that fit no row, and those to log in, whose rows
    /// say that nothing fits, are looked at more closely.
    pub extras: &'static [u8],
    /// Whether there is a key.
    pub key: Part,
    /// Whether a value follows the key.
    pub value: Part,
    /// Whether only what the client cannot infer is answered.
    pub quiet: bool,
    /// The command of the text protocol under which it is counted and logged.
    pub command: CommandId,
}

/// Whether a request has a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It must not.
    Never,
    /// It must, and the part has at least a byte.
    Always,
    /// It may.
    Maybe,
    /// It need not, and what is there is dropped unread. memcached takes it for the next request.
    Ignored,
}

impl Part {
    /// Whether a part of this length is allowed.
    #[inline]
    pub(crate) fn allows(self, len: usize) -> bool {
        match self {
            Part::Never => len == 0,
            Part::Always => len > 0,
            Part::Maybe | Part::Ignored => true,
        }
    }
}

/// Makes [`Opcode`] and the table.
macro_rules! table {
    ($($id:ident $number:literal $name:literal $quiet:ident $extras:tt $key:ident $value:ident
        $command:ident;)*) => {
        /// An opcode of the binary protocol, as a request has it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = concat!("`", $name, "`")] $id = $number,)*
        }

        /// All opcodes.
        static TABLE: [OpcodeRow; [$(Opcode::$id),*].len()] = [$(OpcodeRow {
            opcode: Opcode::$id,
            name: $name,
            extras: &$extras,
            key: Part::$key,
            value: Part::$value,
            quiet: quiet!($quiet),
            command: CommandId::$command,
        },)*];

        /// The row of each number; the numbers that are no opcode have none.
        static BY_NUMBER: [Option<&OpcodeRow>; 256] = {
            let mut rows = [None; 256];
            let mut at = 0;
            while at < TABLE.len() {
                rows[TABLE[at].opcode as usize] = Some(&TABLE[at]);
                at += 1;
            }
            rows
        };
    };
}

macro_rules! quiet {
    (quiet) => {
        true
    };
    (loud) => {
        false
    };
}

table! {
    Get 0x00 "Get" loud [0] Always Never Get;
    Set 0x01 "Set" loud [8] Always Maybe Set;
    Add 0x02 "Add" loud [8] Always Maybe Add;
    Replace 0x03 "Replace" loud [8] Always Maybe Replace;
    Delete 0x04 "Delete" loud [0] Always Never Delete;
    Increment 0x05 "Increment" loud [20] Always Never Incr;
    Decrement 0x06 "Decrement" loud [20] Always Never Decr;
    Quit 0x07 "Quit" loud [0] Never Never Quit;
    Flush 0x08 "Flush" loud [0, 4] Never Never FlushAll;
    GetQ 0x09 "GetQ" quiet [0] Always Never Get;
    Noop 0x0a "Noop" loud [0] Never Never Noop;
    Version 0x0b "Version" loud [0] Never Never Version;
    GetK 0x0c "GetK" loud [0] Always Never Get;
    GetKQ 0x0d "GetKQ" quiet [0] Always Never Get;
    Append 0x0e "Append" loud [0] Always Maybe Append;
    Prepend 0x0f "Prepend" loud [0] Always Maybe Prepend;
    Stat 0x10 "Stat" loud [0] Maybe Ignored Stats;
    SetQ 0x11 "SetQ" quiet [8] Always Maybe Set;
    AddQ 0x12 "AddQ" quiet [8] Always Maybe Add;
    ReplaceQ 0x13 "ReplaceQ" quiet [8] Always Maybe Replace;
    DeleteQ 0x14 "DeleteQ" quiet [0] Always Never Delete;
    IncrementQ 0x15 "IncrementQ" quiet [20] Always Never Incr;
    DecrementQ 0x16 "DecrementQ" quiet [20] Always Never Decr;
    QuitQ 0x17 "QuitQ" quiet [0] Never Never Quit;
    FlushQ 0x18 "FlushQ" quiet [0, 4] Never Never FlushAll;
    AppendQ 0x19 "AppendQ" quiet [0] Always Maybe Append;
    PrependQ 0x1a "PrependQ" quiet [0] Always Maybe Prepend;
    Touch 0x1c "Touch" loud [4] Always Ignored Touch;
    Gat 0x1d "GAT" loud [4] Always Ignored Gat;
    GatQ 0x1e "GATQ" quiet [4] Always Ignored Gat;
    SaslList 0x20 "SaslList" loud [] Never Never Auth;
    SaslAuth 0x21 "SaslAuth" loud [] Always Maybe Auth;
    SaslStep 0x22 "SaslStep" loud [] Always Maybe Auth;
    GatK 0x23 "GATK" loud [4] Always Ignored Gat;
    GatKQ 0x24 "GATKQ" quiet [4] Always Ignored Gat;
}

impl Opcode {
    /// Its row.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static OpcodeRow {
        find(self as u8).expect("every opcode has a row")
    }
}

/// The row of a number, if it is an opcode.
#[inline]
pub(crate) fn find(number: u8) -> Option<&'static OpcodeRow> {
    BY_NUMBER[usize::from(number)]
}

/// All opcodes of the binary protocol: for documentation and fuzz dictionaries.
pub fn opcodes() -> impl Iterator<Item = &'static OpcodeRow> {
    TABLE.iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_finds_its_own_row() {
        for row in opcodes() {
            assert!(std::ptr::eq(row.opcode.row(), row), "{}", row.name);
            assert_eq!(row.quiet, row.name.ends_with('Q'), "{}", row.name);
        }
        assert_eq!((0..=255).filter_map(find).count(), opcodes().count());
    }
}
