// SPDX-License-Identifier: Apache-2.0
//! `[memcache]`: what is spoken on memcache's ports.

use protocol_memcache::Forms;

config::section! {
    /// memcache's protocol.
    pub(crate) struct Memcache in "memcache" {
        /// Which of its forms: text, binary, or either, which the first byte of a connection tells.
        pub(crate) protocol: Spoken = Spoken::Auto;
    }
}

config::choices! {
    /// The forms that are spoken.
    #[derive(Default)]
    pub(crate) enum Spoken {
        /// Both.
        #[default]
        Auto = "auto",
        /// Text alone.
        Ascii = "ascii",
        /// The binary protocol alone.
        Binary = "binary",
    }
}

impl Memcache {
    /// What the codec accepts.
    pub(crate) fn forms(&self) -> Forms {
        match self.protocol {
            Spoken::Auto => Forms::Auto,
            Spoken::Ascii => Forms::Text,
            Spoken::Binary => Forms::Binary,
        }
    }
}
