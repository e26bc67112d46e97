// SPDX-License-Identifier: Apache-2.0
//! [`Parameters`]: `[redis]` of the configuration file, parameters by their Redis names.

use protocol_resp::service::config::{Outcome, Parameter, parameter};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Parameters and their values, as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters(BTreeMap<&'static str, String>);

/// What is shown in the place of a password.
const REDACTED: &str = "(redacted)";

/// Parameters whose values are secrets.
pub(crate) const SECRETS: [&str; 3] = ["requirepass", "masterauth", "tls-client-key-file-pass"];

impl Parameters {
    /// Gives a parameter a value.
    pub(crate) fn set(
        &mut self,
        parameter: &'static Parameter,
        value: &str,
    ) -> Result<Outcome, String> {
        let outcome = parameter.check(value.as_bytes())?;
        let shown = parameter.canonical(value.as_bytes())?;
        if let Outcome::Set = outcome {
            self.0.insert(parameter.name(), String::from_utf8_lossy(&shown).into_owned());
        }
        Ok(outcome)
    }

    /// The value of a parameter, its default if it was given none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let default = || parameter(name.as_bytes()).map_or("", Parameter::default);
        self.0.get(name).map_or_else(default, String::as_str)
    }

    /// Those that were given a value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        let known = |name: &str| parameter(name.as_bytes()).expect("it was looked up before");
        self.0.iter().map(move |(name, value)| (known(name), value.as_str()))
    }

    /// The same without what nobody else should see.
    pub(crate) fn without_secrets(&self) -> Self {
        let mut shown = self.clone();
        for (name, value) in &mut shown.0 {
            if SECRETS.contains(name) {
                REDACTED.clone_into(value);
            }
        }
        shown
    }
}

impl Serialize for Parameters {
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

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Section)
    }
}

/// Reads the section.
struct Section;

impl<'de> Visitor<'de> for Section {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
        let mut parameters = Parameters::default();
        while let Some(parameter) = map.next_key_seed(Name)? {
            let value = map.next_value_seed(Text(parameter))?;
            parameters.0.insert(parameter.name(), value);
        }
        Ok(parameters)
    }
}

/// Reads a name.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static Parameter;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static Parameter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a parameter of Redis")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let parameter = parameter(name.as_bytes())
            .ok_or_else(|| E::custom(format!("{name} is no parameter of Redis")))?;
        match parameter.place() {
            Some(place) => Err(E::custom(format!("{name} is said by {place} in this file"))),
            None => Ok(parameter),
        }
    }
}

/// Reads a value: a string, a number, a boolean, or a list of words.
struct Text(&'static Parameter);

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let parameter = self.0;
        let value = deserializer.deserialize_any(self)?;
        match parameter.check(value.as_bytes()).map_err(D::Error::custom)? {
            Outcome::Set => {
                let shown = parameter.canonical(value.as_bytes()).map_err(D::Error::custom)?;
                Ok(String::from_utf8_lossy(&shown).into_owned())
            }
            Outcome::NoEffect(why) => Err(D::Error::custom(why)),
        }
    }
}

impl<'de> Visitor<'de> for Text {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Serialize, Deserialize)]
    #[serde(default)]
    struct File {
        redis: Parameters,
    }

    fn read(text: &str) -> Result<Parameters, String> {
        let text = format!("[redis]\n{text}");
        config::parse::<File>(&text, "x.toml").map(|file| file.redis).map_err(|e| e.to_string())
    }

    #[test]
    fn values_of_all_types_are_taken_and_come_back() {
        let text = "maxmemory = \"1gb\"\nmaxmemory-policy = \"ALLKEYS-LRU\"\ndatabases = 4\n\
                    activerehashing = true\nlatency-tracking-info-percentiles = [\"50\", \"99\"]\n";
        let parameters = read(text).expect(text);
        assert_eq!(parameters.get("maxmemory"), "1073741824");
        assert_eq!(parameters.get("maxmemory-policy"), "allkeys-lru");
        assert_eq!(parameters.get("latency-tracking-info-percentiles"), "50 99");
        assert_eq!(parameters.get("hz"), "10", "the default");
        let printed = config::print(&File { redis: parameters.clone() }).expect("TOML");
        assert!(printed.contains("databases = 4\n"), "{printed}");
        let again = config::parse::<File>(&printed, "x.toml").expect("what it prints");
        assert_eq!(again.redis, parameters);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let cases = [
            ("maxmemry = 1", ":2:", "maxmemry is no parameter of Redis"),
            ("maxmemory = \"lots\"", ":2:13", "argument must be a memory value"),
            ("port = 7000", ":2:", "said by [server] port"),
            ("appendonly = true", ":2:14", "keeps nothing on disk"),
            ("save = \"900 1\"", ":2:8", "keeps nothing on disk"),
        ];
        for (line, place, problem) in cases {
            let message = read(line).expect_err(line);
            assert!(message.contains(place) && message.contains(problem), "{line}: {message}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let parameters = read("requirepass = \"secret\"\nhz = 5").expect("right");
        let shown = parameters.without_secrets();
        assert_eq!((shown.get("requirepass"), shown.get("hz")), ("(redacted)", "5"));
    }
}
