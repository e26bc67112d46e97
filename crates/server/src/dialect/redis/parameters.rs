// SPDX-License-Identifier: Apache-2.0
//! [`Parameters`]: a section of the configuration file, parameters by their Redis names.

use super::names::{Name, ParameterTable};
use config::{Row, Section, Table};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Parameters and their values, as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters<N>(BTreeMap<&'static str, String>, PhantomData<N>);

/// What is shown in the place of a password.
const REDACTED: &str = "(redacted)";

impl<N: ParameterTable> Parameters<N> {
    /// Sets a parameter. If the value has no effect, returns the reason and leaves the
    /// parameter as it is.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    pub fn set(&mut self, parameter: Name, value: &str) -> Result<Option<&'static str>, String> {
        let why = N::without_effect(parameter, value)?;
        let shown = N::canonical(parameter, value)?;
        if why.is_none() {
            self.0.insert(parameter.name, shown);
        }
        Ok(why)
    }

    /// The value of a parameter, its default if it was given none.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        let default = || N::find(name.as_bytes()).map_or("", |parameter| parameter.default);
        self.0.get(name).map_or_else(default, String::as_str)
    }

    /// Those that were given a value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The same with passwords redacted.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let mut shown = self.clone();
        for (name, value) in &mut shown.0 {
            if N::find(name.as_bytes()).is_some_and(|parameter| parameter.is_secret) {
                REDACTED.clone_into(value);
            }
        }
        shown
    }
}

impl<N: ParameterTable> Section for Parameters<N> {
    const NAME: &'static str = "redis";

    fn table() -> Table {
        let about = "Parameters by their Redis names; docs/parameters.md lists all that there are.";
        let used = N::all().filter(|name| name.place.is_none() && !name.about.is_empty());
        Table { name: Self::NAME, about: about.to_owned(), rows: used.map(row).collect() }
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

/// A parameter as a row of the file.
fn row(name: Name) -> Row {
    let is_number = name.default.parse::<i64>().is_ok();
    let shown = if is_number { name.default.to_owned() } else { format!("{:?}", name.default) };
    Row {
        key: name.name.to_owned(),
        about: name.about.to_owned(),
        takes: String::new(),
        default: None,
        absent: shown.clone(),
        example: Some(shown),
    }
}

impl<N> Serialize for Parameters<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value.parse::<i64>() {
                Ok(number) if number.to_string() == *value => map.serialize_entry(name, &number)?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl<'de, N: ParameterTable> Deserialize<'de> for Parameters<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Reads the section.
struct Entries<N>(PhantomData<N>);

impl<'de, N: ParameterTable> Visitor<'de> for Entries<N> {
    type Value = Parameters<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters<N>, A::Error> {
        let mut parameters = Parameters(BTreeMap::new(), PhantomData);
        while let Some(parameter) = map.next_key_seed(Key::<N>(PhantomData))? {
            let value = map.next_value_seed(Text::<N>(parameter, PhantomData))?;
            parameters.0.insert(parameter.name, value);
        }
        Ok(parameters)
    }
}

/// Reads a name.
struct Key<N>(PhantomData<N>);

impl<'de, N: ParameterTable> DeserializeSeed<'de> for Key<N> {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<N: ParameterTable> Visitor<'_> for Key<N> {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a parameter of Redis")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let parameter = N::find(name.as_bytes()).ok_or_else(|| {
            let known: Vec<_> = N::all().map(|parameter| parameter.name).collect();
            let meant = config::closest(name, &known);
            let meant = meant.map_or_else(String::new, |it| format!("; did you mean \"{it}\"?"));
            E::custom(format!("{name} is no parameter of Redis{meant}"))
        })?;
        match parameter.place {
            Some(place) => Err(E::custom(format!("{name} is said by {place} in this file"))),
            None => Ok(parameter),
        }
    }
}

/// Reads a value: a string, a number, a boolean, or a list of words.
struct Text<N>(Name, PhantomData<N>);

impl<'de, N: ParameterTable> DeserializeSeed<'de> for Text<N> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let parameter = self.0;
        let value = deserializer.deserialize_any(self)?;
        match N::without_effect(parameter, &value).map_err(D::Error::custom)? {
            None => N::canonical(parameter, &value).map_err(D::Error::custom),
            Some(why) => Err(D::Error::custom(why)),
        }
    }
}

impl<'de, N> Visitor<'de> for Text<N> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer, a boolean, or a list of them")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<String, E> {
        Ok(if is_on { "yes" } else { "no" }.to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<String, A::Error> {
        let mut words: Vec<String> = Vec::new();
        while let Some(word) = seq.next_element_seed(Word)? {
            words.push(word);
        }
        Ok(words.join(" "))
    }
}

/// Reads a word of a list.
struct Word;

impl<'de> DeserializeSeed<'de> for Word {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}
