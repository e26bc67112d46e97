// SPDX-License-Identifier: Apache-2.0
//! [`Noise`]: inputs that are nearly requests.

/// Pieces that inputs are made of.
const PIECES: [&[u8]; 40] = [
    b"*1\r\n",
    b"*2\r\n",
    b"*3\r\n",
    b"*5\r\n",
    b"*6\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*10\r\n",
    b"*11\r\n",
    b"$0\r\n\r\n",
    b"$1\r\nx\r\n",
    b"$4\r\nPING\r\n",
    b"$4\r\nECHO\r\n",
    b"$2\r\nxx\r\n",
    b"$5\r\n",
    b"$10\r\n",
    b"$12\r\nabcdefghijkl\r\n",
    b"$-1\r\n",
    b"$16385\r\n",
    b"PING\r\n",
    b"ECHO ",
    b"xx ",
    b"a ",
    b"\"",
    b"'",
    b"\\",
    b"\\x4",
    b"\\n",
    b"b\"",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\x0b",
    b"1",
    b"9",
    b"0",
    b":",
    b"\xc3",
];

/// A small deterministic generator (xorshift64).
pub(crate) struct Noise(u64);

impl Noise {
    /// A generator that follows from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed | 1 << 63)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 11) % end as u64) as usize
    }

    /// A few requests, mostly well formed, some with a byte dropped or changed, and a request behind
    /// them that shows where the server stands.
    pub(crate) fn input(&mut self) -> Vec<u8> {
        let mut input = Vec::new();
        for _ in 0..=self.below(3) {
            match self.below(3) {
                0 => self.array(&mut input),
                1 => self.line(&mut input),
                _ => {
                    for _ in 0..=self.below(12) {
                        input.extend_from_slice(PIECES[self.below(PIECES.len())]);
                    }
                }
            }
        }
        if self.below(2) == 0 {
            let at = self.below(input.len());
            match self.below(3) {
                0 => drop(input.remove(at)),
                1 => input[at] = PIECES[self.below(PIECES.len())][0],
                _ => input.insert(at, input[at]),
            }
        }
        if self.below(4) > 0 {
            input.extend_from_slice(b"\nECHO end\r\n");
        }
        input
    }

    fn array(&mut self, input: &mut Vec<u8>) {
        let count = 1 + self.below(7);
        input.extend_from_slice(format!("*{count}\r\n").as_bytes());
        for _ in 0..count {
            let len = [0, 1, 2, 3, 9, 10, 11, 99, 100][self.below(9)];
            input.extend_from_slice(format!("${len}\r\n").as_bytes());
            input.extend((0..len).map(|_| b"abx\r\n$*1 "[self.below(9)]));
            input.extend_from_slice(b"\r\n");
        }
    }

    fn line(&mut self, input: &mut Vec<u8>) {
        input.extend_from_slice([&b"xx"[..], b"ECHO", b"PING", b""][self.below(4)]);
        for _ in 0..self.below(8) {
            let word = [
                &b" "[..],
                b" a",
                b" bc",
                b" \"d e\"",
                b" 'f g'",
                b" \"\\x41\\n\\\"\"",
                b" '\\''",
                b"\th",
                b" i\"j\"",
            ];
            input.extend_from_slice(word[self.below(9)]);
        }
        input.extend_from_slice([&b"\r\n"[..], b"\n"][self.below(2)]);
    }
}
