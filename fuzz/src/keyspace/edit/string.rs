// SPDX-License-Identifier: Apache-2.0
//! Edits of strings, and of other values into strings.

use super::{Edit, element};
use crate::keyspace::value::Value;
use arbitrary::{Result, Unstructured};
use values::Entry;

/// The longest string that an edit makes.
const LEN_MAX: usize = 100_000;

impl Edit<'_> {
    pub(super) fn string(
        self,
        entry: &mut Entry,
        text: &mut Vec<u8>,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        let more = element(input)?;
        match input.int_in_range(0..=3_u8)? {
            0 | 1 if text.len() < LEN_MAX => {
                entry.append(&more);
                text.extend_from_slice(&more);
            }
            2 => {
                let shift = input.int_in_range(0..=14_u32)?;
                let offset = (1 << shift) - 1 + input.int_in_range(0..=1_usize)?;
                entry.set_range(offset, &more);
                let end = offset + more.len();
                text.resize(text.len().max(end), 0);
                text[offset..end].copy_from_slice(&more);
            }
            _ => {
                entry.set_string(&more);
                *text = more;
            }
        }
        Ok(())
    }

    /// Makes a string of a value of any type.
    pub(super) fn replace(
        self,
        entry: &mut Entry,
        value: &mut Value,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        let text = match input.int_in_range(0..=3_u8)? {
            0 => {
                let integer: i64 = input.arbitrary()?;
                entry.set_integer(integer);
                integer.to_string().into_bytes()
            }
            1 => {
                let text = element(input)?;
                entry.set_raw_string(&text);
                text
            }
            2 => {
                let len = Entry::PIN_MIN - 2 + input.int_in_range(0..=4_usize)?;
                let text = vec![b'r'; len];
                entry.set_raw_string(&text);
                text
            }
            _ => {
                let text = element(input)?;
                entry.set_string(&text);
                text
            }
        };
        *value = Value::String(text);
        Ok(())
    }
}
