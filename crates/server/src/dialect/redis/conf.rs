// SPDX-License-Identifier: Apache-2.0
//! [`Directive`]: a parameter by its Redis name, from a `redis.conf` or the command line.

use super::elsewhere;
use super::names::{Name, ParameterTable};
use std::fmt;
use std::path::{Path, PathBuf};

/// How deep files may include others.
const DEPTH_MAX: usize = 8;

/// A parameter and the value that it is set to.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The parameter.
    pub parameter: Name,
    /// The words of the value, with a space between them.
    pub value: String,
    /// Where it is written.
    pub place: Place,
}

/// Where a directive is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
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

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read, or is wrong.
    #[error(transparent)]
    File(#[from] config::Error),
    /// The parameter cannot have this value.
    #[error("{}: {} \"{}\": {problem}", .0.place, .0.parameter.name, .0.value, problem = .1)]
    Value(Box<Directive>, String),
    /// A line is malformed.
    #[error("{0}: {1}")]
    Line(Place, &'static str),
    /// Lines of files begin with names that no parameter has.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unknown(Vec<Unknown>),
}

/// A name that no parameter has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// As it is written.
    pub name: String,
    /// Where.
    pub place: Place,
    /// The parameter that is probably meant.
    pub meant: Option<&'static str>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unknown { name, place, meant } = self;
        // A long one is no slip of the finger; names of passwords' lines are not secret.
        let shown: String = name.chars().take(64).collect();
        write!(f, "{place}: unknown parameter \"{}\"", shown.escape_debug())?;
        meant.map_or(Ok(()), |meant| write!(f, "; did you mean \"{meant}\"?"))
    }
}

impl Directive {
    /// The error that its value is wrong, with the reason.
    pub fn refused(&self, problem: impl Into<String>) -> Error {
        Error::Value(Box::new(self.clone()), problem.into())
    }
}

/// The content of a `redis.conf` and of the files that it includes.
#[derive(Debug, Default)]
pub(super) struct Conf {
    pub(super) directives: Vec<Directive>,
    /// Names that no parameter has.
    pub(super) unknown: Vec<Unknown>,
    /// Names that only other servers have a parameter for, with their places.
    pub(super) elsewhere: Vec<(String, Place)>,
}

impl Conf {
    /// Reads the content of a file.
    pub(super) fn parse<N: ParameterTable>(text: &str, file: &Path) -> Result<Self, Error> {
        let mut conf = Conf::default();
        conf.read::<N>(text, file, 0)?;
        Ok(conf)
    }

    /// Reads the files that match `pattern`: one, or for a pattern with wildcards any number.
    fn include<N: ParameterTable>(
        &mut self,
        pattern: &Path,
        place: &Place,
        depth: usize,
    ) -> Result<(), Error> {
        let text = pattern.to_str().unwrap_or_default();
        if !text.contains(['*', '?', '[']) {
            return self.include_file::<N>(pattern, depth);
        }
        let wrong = "what is included is no pattern of paths";
        let found = glob::glob(text).map_err(|_| Error::Line(place.clone(), wrong))?;
        for file in found.flatten() {
            self.include_file::<N>(&file, depth)?;
        }
        Ok(())
    }

    fn include_file<N: ParameterTable>(&mut self, file: &Path, depth: usize) -> Result<(), Error> {
        let text = config::read(file)?;
        self.read::<N>(&String::from_utf8_lossy(&text), file, depth)
    }

    fn read<N: ParameterTable>(
        &mut self,
        text: &str,
        file: &Path,
        depth: usize,
    ) -> Result<(), Error> {
        for (number, line) in text.lines().enumerate() {
            let place = Place::Line(file.to_owned(), number + 1);
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words = N::words(line).ok_or(Error::Line(place.clone(), "unbalanced quotes"))?;
            let (name, values) = words.split_first().expect("a line that is not empty has a word");
            if name.eq_ignore_ascii_case("include") {
                if depth == DEPTH_MAX {
                    return Err(Error::Line(place, "files include others too deeply"));
                }
                let folder = file.parent().unwrap_or(Path::new(""));
                for value in values {
                    self.include::<N>(&folder.join(value), &place, depth + 1)?;
                }
                continue;
            }
            let Some(parameter) = N::find(name.as_bytes()) else {
                if elsewhere::has(name) {
                    self.elsewhere.push((name.clone(), place));
                    continue;
                }
                let known: Vec<_> = N::all().map(|parameter| parameter.name).collect();
                let meant = config::closest(name, &known);
                self.unknown.push(Unknown { name: name.clone(), place, meant });
                continue;
            };
            let directive = Directive { parameter, value: values.join(" "), place };
            // An empty `bind` is valid: it means to listen on no address; an empty `save` to save never.
            if values.is_empty() && !matches!(parameter.name, "bind" | "save") {
                return Err(directive.refused("wrong number of arguments"));
            }
            self.directives.push(directive);
        }
        Ok(())
    }
}

/// The last directive of each parameter, at the place of its first; of those whose values
/// [add up](Name::adds_up) all.
pub(super) fn merge(all: Vec<Directive>) -> Vec<Directive> {
    let mut merged: Vec<Directive> = Vec::new();
    for next in all {
        let name = next.parameter.name;
        if name == "rename-command" {
            // Each of these sets something else.
            merged.push(next);
            continue;
        }
        let between = if name == "user" { "\n" } else { " " };
        match merged.iter_mut().find(|old| old.parameter.name == name) {
            Some(old) if next.parameter.adds_up && !next.value.is_empty() => {
                old.value = format!("{}{between}{}", old.value, next.value).trim().to_owned();
                old.place = next.place;
            }
            Some(old) => *old = next,
            None => merged.push(next),
        }
    }
    merged
}
