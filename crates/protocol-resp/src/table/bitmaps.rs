// SPDX-License-Identifier: Apache-2.0
//! Bitmaps: strings as arrays of bits and of small integers.

use super::macros::commands;

commands! {
    group: Bitmap;

    Bitcount = bitmaps::bitcount {
        name: "bitcount", arity: -2, since: "2.6.0",
        flags: [READONLY], categories: [BITMAP], keys: [at(1): RO ACCESS],
        syntax: "key [index: start [end_index: end [index_unit: BYTE | BIT]]]",
        reply: Integer, complexity: "O(N) in the bytes looked at",
        summary: "Counts the bits of a string that are set.",
    }
    Bitfield = bitmaps::bitfield {
        name: "bitfield", arity: -2, since: "3.2.0",
        flags: [WRITE DENYOOM], categories: [BITMAP],
        keys: [
            at(1): RW ACCESS UPDATE VARIABLE,
            "This command allows both access and modification of the key"
        ],
        syntax: "key [(operation: GET (encoding offset) | (write: [OVERFLOW (WRAP | SAT | FAIL)] \
                 (write_operation: SET (encoding offset value:integer) | \
                 INCRBY (encoding offset increment))))...]",
        reply: Array, complexity: "O(N) in the number of operations",
        summary: "Reads and changes integers of any width in a string.",
    }
    BitfieldRo = bitmaps::bitfield_ro {
        name: "bitfield_ro", arity: -2, since: "6.0.0",
        flags: [READONLY FAST], categories: [BITMAP], keys: [at(1): RO ACCESS],
        syntax: "key [(GET (encoding offset))...]",
        reply: Array, complexity: "O(N) in the number of operations",
        summary: "Reads integers of any width in a string.",
    }
    Bitop = bitmaps::bitop {
        name: "bitop", arity: -4, since: "2.6.0",
        flags: [WRITE DENYOOM], categories: [BITMAP],
        keys: [at(2): OW UPDATE; range(3, -1, 1): RO ACCESS],
        syntax: "(operation: AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE) destkey:key key...",
        reply: Integer, complexity: "O(N) in the bytes of the strings",
        summary: "Combines strings bit by bit and stores the result.",
    }
    Bitpos = bitmaps::bitpos {
        name: "bitpos", arity: -3, since: "2.8.7",
        flags: [READONLY], categories: [BITMAP], keys: [at(1): RO ACCESS],
        syntax: "key bit:integer [index: start [end_index: end [index_unit: BYTE | BIT]]]",
        reply: Integer, complexity: "O(N) in the bytes looked at",
        summary: "Finds the first bit of a string that is set, or that is not.",
    }
    Getbit = bitmaps::getbit {
        name: "getbit", arity: 3, since: "2.2.0",
        flags: [READONLY FAST], categories: [BITMAP], keys: [at(1): RO ACCESS],
        syntax: "key offset",
        reply: Integer, complexity: "O(1)",
        summary: "Reads a bit of a string.",
    }
    Setbit = bitmaps::setbit {
        name: "setbit", arity: 4, since: "2.2.0",
        flags: [WRITE DENYOOM], categories: [BITMAP], keys: [at(1): RW ACCESS UPDATE],
        syntax: "key offset value:integer",
        reply: Integer, complexity: "O(1), unless the string grows",
        summary: "Changes a bit of a string, which is made or lengthened as needed.",
    }
}
