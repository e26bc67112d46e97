// SPDX-License-Identifier: Apache-2.0
//! The deserializer over one value of the parsed document.
//!
//! [`Node`] answers each question serde asks about a value. Unlike the `toml` crate's own
//! deserializer, it can report the place, the key and the value of an error. Because
//! serde passes the field names of each struct on the way in, it also knows every valid
//! name. Unknown keys are noted and skipped, so that one run finds them all.
//!
//! Recursion is bounded by [`MAX_DEPTH`].

mod access;
mod fault;

use std::cell::RefCell;
use std::ops::Range;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Expected, Visitor};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::depth::MAX_DEPTH;
use crate::path::Path;
use crate::source::{quoted, shorten};
use access::{Entries, Items, Variant};
pub(crate) use fault::Fault;
use fault::FaultPlace;

/// The longest value shown, in characters.
const VALUE_CHARS: usize = 40;

/// Notes taken on the way through the document.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Keys that belong to no field.
    pub(crate) unknown: RefCell<Vec<UnknownKey>>,
    /// Tables that became structs, with the names of their fields.
    pub(crate) tables: RefCell<Vec<(String, &'static [&'static str])>>,
}

/// A key that belongs to no field of its table's struct.
#[derive(Debug)]
pub(crate) struct UnknownKey {
    /// Where the key is in the text.
    pub(crate) span: Range<usize>,
    /// The key.
    pub(crate) key: String,
    /// Its table, as messages put it.
    pub(crate) table: String,
    /// The names that the table has.
    pub(crate) known: &'static [&'static str],
}

/// One value of the document, with the way to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a, 'doc> {
    value: &'a Spanned<DeValue<'doc>>,
    path: &'a Path<'a>,
    notes: &'a Notes,
}

impl<'a, 'doc> Node<'a, 'doc> {
    /// The value that is the whole document.
    pub(crate) fn document(value: &'a Spanned<DeValue<'doc>>, notes: &'a Notes) -> Self {
        Node { value, path: &Path::Top, notes }
    }

    /// A value inside the document.
    fn inside(value: &'a Spanned<DeValue<'doc>>, path: &'a Path<'a>, notes: &'a Notes) -> Self {
        Node { value, path, notes }
    }

    /// Makes what `seed` describes out of the value.
    pub(crate) fn read<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        if self.path.depth() > MAX_DEPTH {
            return self.wrong(format!("at most {MAX_DEPTH} levels of tables and arrays"));
        }
        self.located(seed.deserialize(self))
    }

    fn get(&self) -> &'a DeValue<'doc> {
        self.value.get_ref()
    }

    /// Adds this value's place to a fault, unless an inner value has done so.
    fn located<T>(&self, result: Result<T, Fault>) -> Result<T, Fault> {
        result.map_err(|fault| {
            let key = fault.unknown_key().and_then(|key| self.key_span(key));
            fault.at(|| FaultPlace {
                span: key.or_else(|| self.span()),
                key: self.path.key(),
                table: self.path.table(),
                found: describe(self.get()),
            })
        })
    }

    /// The place to show; none for the document as a whole.
    fn span(&self) -> Option<Range<usize>> {
        (!matches!(self.path, Path::Top)).then(|| self.value.span())
    }

    fn key_span(&self, key: &str) -> Option<Range<usize>> {
        let table = self.get().as_table()?;
        table.keys().find(|known| known.get_ref() == key).map(Spanned::span)
    }

    fn wrong<T>(&self, expected: impl Into<String>) -> Result<T, Fault> {
        self.located(Err(Fault::expected(expected)))
    }

    fn integer<N: TryFrom<i128>>(&self) -> Option<N> {
        match self.get() {
            DeValue::Integer(integer) => N::try_from(to_i128(integer)?).ok(),
            _ => None,
        }
    }

    fn visit_entries<'de, V: Visitor<'de>>(
        self,
        table: &'a DeTable<'doc>,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let entries = Entries::new(table, fields, self.path, self.notes);
        self.located(visitor.visit_map(entries))
    }
}

/// Methods for integers: the value must be one that fits the type.
macro_rules! integers {
    ($($method:ident $visit:ident $type:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.integer::<$type>() {
                Some(number) => self.located(visitor.$visit(number)),
                None => {
                    self.wrong(format!("an integer from {} to {}", $type::MIN, $type::MAX))
                }
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = Fault;

    integers! {
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_i128 visit_i128 i128,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_u128 visit_u128 u128,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::String(text) => self.located(visitor.visit_str(text)),
            DeValue::Integer(_) => match (self.integer::<i64>(), self.integer::<u64>()) {
                (Some(number), _) => self.located(visitor.visit_i64(number)),
                (None, Some(number)) => self.located(visitor.visit_u64(number)),
                (None, None) => self.wrong("an integer of at most 64 bits"),
            },
            DeValue::Float(_) => self.deserialize_f64(visitor),
            DeValue::Boolean(truth) => self.located(visitor.visit_bool(*truth)),
            DeValue::Datetime(date) => self.located(visitor.visit_string(date.to_string())),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::Boolean(truth) => self.located(visitor.visit_bool(*truth)),
            _ => self.wrong("true or false"),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let number = match self.get() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(_) => self.integer::<i128>().map(|number| number as f64),
            _ => None,
        };
        match number {
            Some(number) => self.located(visitor.visit_f64(number)),
            None => self.wrong("a number"),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::String(text) => self.located(visitor.visit_str(text)),
            _ => self.wrong(shorten(&(&visitor as &dyn Expected).to_string(), 240)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_some(self))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.located(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::Array(array) => {
                self.located(visitor.visit_seq(Items::new(array, self.path, self.notes)))
            }
            _ => self.wrong("an array"),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::Array(array) if array.len() == len => self.deserialize_seq(visitor),
            _ => self.wrong(format!("an array of length {len}")),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::Table(table) => self.visit_entries(table, None, visitor),
            _ => self.wrong("a table"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.get() {
            DeValue::Table(table) => {
                self.notes.tables.borrow_mut().push((self.path.table(), fields));
                self.visit_entries(table, Some(fields), visitor)
            }
            _ => self.wrong("a table"),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match Variant::of(self) {
            Some(variant) => self.located(visitor.visit_enum(variant)),
            None => self.wrong(choices(variants)),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }
}

/// `None` for integers beyond 128 bits.
fn to_i128(integer: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// The value as messages put it.
fn describe(value: &DeValue<'_>) -> String {
    let brief = |text: &str| shorten(text, VALUE_CHARS);
    match value {
        DeValue::String(text) => format!("the string {}", quoted(text, VALUE_CHARS)),
        DeValue::Integer(integer) => format!("the integer {}", brief(&integer.to_string())),
        DeValue::Float(float) => format!("the number {}", brief(float.as_str())),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(date) => format!("the date {}", brief(&date.to_string())),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn choices(variants: &[&str]) -> String {
    let names: Vec<String> = variants.iter().map(|name| quoted(name, VALUE_CHARS)).collect();
    shorten(&format!("one of {}", names.join(", ")), 240)
}
