// SPDX-License-Identifier: Apache-2.0
//! [`Directive`]: a parameter by its Redis name, from a `redis.conf` or the command line.

use protocol_resp::parse::{self, Cursor, Framing};
use protocol_resp::service::config::{Parameter, parameter};
use std::fmt;
use std::path::{Path, PathBuf};

/// How deep files may include others.
const DEPTH_MAX: usize = 8;

/// A parameter and what it is to be.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) parameter: &'static Parameter,
    /// Its words with a space between them.
    pub(crate) value: String,
    pub(crate) place: Place,
}

/// Where a directive stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the command line.
    Flag,
    /// In this line of a file.
    Line(PathBuf, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Flag => f.write_str("the command line"),
            Place::Line(file, line) => write!(f, "{}:{line}", file.display()),
        }
    }
}

/// Why a `redis.conf` cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] config::Error),
    /// A value is none that the parameter can have.
    #[error("{}: {} \"{}\": {problem}", .0.place, .0.parameter.name(), .0.value, problem = .1)]
    Value(Box<Directive>, String),
    /// A line is none.
    #[error("{0}: {1}")]
    Line(Place, &'static str),
}

impl Directive {
    /// That its value is wrong, and how.
    pub(crate) fn refused(&self, problem: impl Into<String>) -> Error {
        Error::Value(Box::new(self.clone()), problem.into())
    }
}

/// What is in a `redis.conf`, files it includes too.
#[derive(Debug, Default)]
pub(crate) struct Conf {
    pub(crate) directives: Vec<Directive>,
    /// Names that mean nothing, with their places.
    pub(crate) unknown: Vec<(String, Place)>,
}

impl Conf {
    /// Reads what is in a file.
    pub(crate) fn parse(text: &str, file: &Path) -> Result<Self, Error> {
        let mut conf = Conf::default();
        conf.read(text, file, 0)?;
        Ok(conf)
    }

    /// Reads the files that `pattern` means: one, or those that match it, which may be none.
    fn include(&mut self, pattern: &Path, place: &Place, depth: usize) -> Result<(), Error> {
        let text = pattern.to_str().unwrap_or_default();
        if !text.contains(['*', '?', '[']) {
            return self.include_file(pattern, depth);
        }
        let wrong = "what is included is no pattern of paths";
        let found = glob::glob(text).map_err(|_| Error::Line(place.clone(), wrong))?;
        for file in found.flatten() {
            self.include_file(&file, depth)?;
        }
        Ok(())
    }

    fn include_file(&mut self, file: &Path, depth: usize) -> Result<(), Error> {
        let text = config::read(file)?;
        self.read(&String::from_utf8_lossy(&text), file, depth)
    }

    fn read(&mut self, text: &str, file: &Path, depth: usize) -> Result<(), Error> {
        for (number, line) in text.lines().enumerate() {
            let place = Place::Line(file.to_owned(), number + 1);
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words = words(line).ok_or(Error::Line(place.clone(), "unbalanced quotes"))?;
            let (name, values) = words.split_first().expect("a line that is not empty has a word");
            if name.eq_ignore_ascii_case("include") {
                if depth == DEPTH_MAX {
                    return Err(Error::Line(place, "files include others too deeply"));
                }
                let folder = file.parent().unwrap_or(Path::new(""));
                for value in values {
                    self.include(&folder.join(value), &place, depth + 1)?;
                }
                continue;
            }
            let Some(parameter) = parameter(name.as_bytes()) else {
                self.unknown.push((name.clone(), place));
                continue;
            };
            let directive = Directive { parameter, value: values.join(" "), place };
            // To listen on no address is to be said so.
            if values.is_empty() && parameter.name() != "bind" {
                return Err(directive.refused("wrong number of arguments"));
            }
            self.directives.push(directive);
        }
        Ok(())
    }
}

/// The words of a line, quoted ones without their quotes. They are those of an inline request.
fn words(line: &str) -> Option<Vec<String>> {
    let input = format!("{line}\n");
    let parsed =
        parse::parse(&Framing::default(), &mut Cursor::default(), input.as_bytes()).ok()?;
    let mut words = Vec::new();
    parsed.map(|request| {
        words.extend(request.iter().map(|word| String::from_utf8_lossy(word).into_owned()));
    });
    (!words.is_empty()).then_some(words)
}

/// The last directive of each parameter, at the place of its first; the classes of
/// `client-output-buffer-limit` and the moments of `save` add up.
pub(crate) fn merge(all: Vec<Directive>) -> Vec<Directive> {
    let mut merged: Vec<Directive> = Vec::new();
    for next in all {
        let name = next.parameter.name();
        if matches!(name, "user" | "rename-command") {
            // Each is about something else.
            merged.push(next);
            continue;
        }
        let adds_up = matches!(name, "client-output-buffer-limit" | "save");
        match merged.iter_mut().find(|old| std::ptr::eq(old.parameter, next.parameter)) {
            Some(old) if adds_up && !next.value.is_empty() => {
                old.value = format!("{} {}", old.value, next.value).trim().to_owned();
                old.place = next.place;
            }
            Some(old) => *old = next,
            None => merged.push(next),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Conf, Error> {
        let mut conf = Conf::default();
        conf.read(text, Path::new("redis.conf"), 0).map(|()| conf)
    }

    #[test]
    fn lines_are_directives() {
        let conf = read(
            "# a comment\n\n  Port 7000 \nrequirepass \"a b\\n\"\nfoo bar\nsave 900 1 300 10\n",
        );
        let conf = conf.expect("right lines");
        let seen: Vec<_> = conf
            .directives
            .iter()
            .map(|it| (it.parameter.name(), it.value.as_str(), it.place.to_string()))
            .collect();
        let expected = [
            ("port", "7000", "redis.conf:3".to_owned()),
            ("requirepass", "a b\n", "redis.conf:4".to_owned()),
            ("save", "900 1 300 10", "redis.conf:6".to_owned()),
        ];
        assert_eq!(seen, expected);
        assert_eq!(conf.unknown[0].0, "foo");
        assert!(matches!(read("requirepass \"a"), Err(Error::Line(..))));
    }

    #[test]
    fn files_include_others_from_where_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect(name);
            path
        };
        let load = |file: &Path| {
            let text = std::fs::read_to_string(file).expect("it was written");
            Conf::parse(&text, file)
        };
        let lines = "port 1\ninclude oth?r.conf\ninclude none/*.conf\nport 3\n";
        let main = write("main.conf", lines);
        write("other.conf", "port 2\nnothing\n");
        let conf = load(&main).expect("both are there");
        let values: Vec<_> = conf.directives.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values, ["1", "2", "3"]);
        assert!(conf.unknown[0].1.to_string().ends_with("other.conf:2"));
        let round = write("round.conf", "include round.conf\n");
        assert!(matches!(load(&round), Err(Error::Line(..))));
        let missing = write("missing.conf", "include nothing.conf\n");
        assert!(matches!(load(&missing), Err(Error::File(_))));
    }

    #[test]
    fn the_last_word_counts_but_where_words_add_up() {
        let conf = read(
            "port 1\nport 2\nsave 900 1\nsave \"\"\nsave 300 10\nsave 60 1\n\
             client-output-buffer-limit normal 0 0 0\nclient-output-buffer-limit pubsub 1 1 1\n",
        );
        let merged = merge(conf.expect("right lines").directives);
        let values: Vec<_> = merged.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values, ["2", "300 10 60 1", "normal 0 0 0 pubsub 1 1 1"]);
    }
}
