// SPDX-License-Identifier: Apache-2.0
//! Walking tables, arrays and enums.

use std::{slice, vec};

use serde::de::{
    self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor, value,
};
use serde::{Deserializer, forward_to_deserialize_any};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use super::fault::FaultPlace;
use super::{Fault, Node, Notes, UnknownKey};
use crate::path::Path;
use crate::source::{quoted, shorten};

/// The most of an unknown key that is kept, in characters: longer ones are not compared anyway.
const KEY_CHARS: usize = 80;

/// The entries of a table, in the order of the text.
#[derive(Debug)]
pub(super) struct Entries<'a, 'doc> {
    rest: vec::IntoIter<Entry<'a, 'doc>>,
    current: Option<Entry<'a, 'doc>>,
    path: &'a Path<'a>,
    notes: &'a Notes,
}

type Entry<'a, 'doc> = (&'a Spanned<DeString<'doc>>, &'a Spanned<DeValue<'doc>>);

impl<'a, 'doc> Entries<'a, 'doc> {
    /// Keys that are not among `fields` are noted and left out.
    pub(super) fn new(
        table: &'a DeTable<'doc>,
        fields: Option<&'static [&'static str]>,
        path: &'a Path<'a>,
        notes: &'a Notes,
    ) -> Self {
        let mut entries: Vec<Entry<'a, 'doc>> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        if let Some(known) = fields {
            entries.retain(|(key, _)| {
                let is_known = known.contains(&key.get_ref().as_ref());
                if !is_known {
                    notes.unknown.borrow_mut().push(UnknownKey {
                        span: key.span(),
                        key: shorten(key.get_ref(), KEY_CHARS),
                        table: path.table(),
                        known,
                    });
                }
                is_known
            });
        }
        Entries { rest: entries.into_iter(), current: None, path, notes }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        let Some((key, _)) = self.current else {
            return Ok(None);
        };
        let place = || FaultPlace {
            span: Some(key.span()),
            key: Path::Key(self.path, key.get_ref()).key(),
            table: self.path.table(),
            found: format!("the key {}", quoted(key.get_ref(), 40)),
        };
        seed.deserialize(Name(key.get_ref())).map(Some).map_err(|fault| fault.at(place))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let (key, value) = self
            .current
            .take()
            .ok_or_else(|| <Fault as de::Error>::custom("a value was asked for before its key"))?;
        let path = Path::Key(self.path, key.get_ref());
        Node::inside(value, &path, self.notes).read(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The elements of an array.
#[derive(Debug)]
pub(super) struct Items<'a, 'doc> {
    rest: slice::Iter<'a, Spanned<DeValue<'doc>>>,
    index: usize,
    path: &'a Path<'a>,
    notes: &'a Notes,
}

impl<'a, 'doc> Items<'a, 'doc> {
    pub(super) fn new(array: &'a DeArray<'doc>, path: &'a Path<'a>, notes: &'a Notes) -> Self {
        Items { rest: array.iter(), index: 0, path, notes }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let Some(value) = self.rest.next() else {
            return Ok(None);
        };
        let path = Path::Index(self.path, self.index);
        self.index += 1;
        Node::inside(value, &path, self.notes).read(seed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// One choice of an enum: a string, or a table with the choice as its only key.
#[derive(Debug)]
pub(super) struct Variant<'a, 'doc> {
    name: &'a str,
    content: Option<&'a Spanned<DeValue<'doc>>>,
    path: &'a Path<'a>,
    notes: &'a Notes,
}

impl<'a, 'doc> Variant<'a, 'doc> {
    /// `None` if the value has neither form.
    pub(super) fn of(node: Node<'a, 'doc>) -> Option<Self> {
        let (name, content) = match node.get() {
            DeValue::String(name) => (name.as_ref(), None),
            DeValue::Table(table) if table.len() == 1 => {
                let (name, content) = table.iter().next()?;
                (name.get_ref().as_ref(), Some(content))
            }
            _ => return None,
        };
        Some(Variant { name, content, path: node.path, notes: node.notes })
    }

    /// Hands the content to `read`; missing content is a fault.
    fn with_content<T>(
        self,
        read: impl FnOnce(Node<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.content {
            Some(content) => {
                let path = Path::Key(self.path, self.name);
                read(Node::inside(content, &path, self.notes))
            }
            None => Err(Fault::expected(format!("a table {{ {} = … }}", shorten(self.name, 40)))),
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        seed.deserialize(Name(self.name)).map(|value| (value, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(Fault::expected(format!("the string {}", quoted(self.name, 40)))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.with_content(|node| node.read(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.with_content(|node| node.deserialize_tuple(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.with_content(|node| node.deserialize_struct("", fields, visitor))
    }
}

/// A key, or the name of a choice.
#[derive(Debug)]
struct Name<'a>(&'a str);

impl<'de> Deserializer<'de> for Name<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(value::StrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
