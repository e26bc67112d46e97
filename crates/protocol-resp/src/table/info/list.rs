// SPDX-License-Identifier: Apache-2.0
//! `COMMAND LIST`: names only.

use super::text;
use crate::table::bits::Categories;
use crate::table::keys::Words;
use crate::table::spec::Spec;
use crate::table::{Catalogue, CommandId};
use crate::wire::glob;
use crate::wire::reply::{Output, Writer};

/// Which commands `COMMAND LIST` lists.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Filter<'a> {
    /// All of them.
    All,
    /// Those of a module. There are no modules.
    Module,
    /// Those of a category. Nothing is in a category that does not exist.
    Category(Option<Categories>),
    /// Those whose whole name matches a pattern.
    Pattern(&'a [u8]),
}

impl<'a> Filter<'a> {
    /// Reads what is behind `COMMAND LIST`. None: it is no filter, the answer to which is a syntax
    /// error.
    pub fn parse<W: Words + ?Sized>(words: &'a W) -> Option<Self> {
        let mut rest = words.words_from(0);
        let Some(word) = rest.next() else { return Some(Self::All) };
        let (kind, argument) = (rest.next()?, rest.next()?);
        if !word.eq_ignore_ascii_case(b"filterby") || rest.next().is_some() {
            return None;
        }
        match &kind.to_ascii_lowercase()[..] {
            b"module" => Some(Self::Module),
            b"aclcat" => Some(Self::Category(Categories::named(argument))),
            b"pattern" => Some(Self::Pattern(argument)),
            _ => None,
        }
    }

    fn admits(self, spec: &Spec) -> bool {
        match self {
            Self::All => true,
            Self::Module | Self::Category(None) => false,
            Self::Category(Some(category)) => spec.categories().has(category),
            Self::Pattern(pattern) => glob::matches_with(pattern, spec.name.as_bytes(), true),
        }
    }
}

impl Catalogue {
    /// `COMMAND LIST`: the names of commands and sub-commands.
    pub fn list(self, out: &mut Writer<'_, impl Output>, filter: Filter<'_>) {
        let names = self.iter().map(CommandId::spec).filter(|spec| filter.admits(spec));
        out.array(names.clone().count());
        for spec in names {
            text(out, spec.name);
        }
    }
}
