// SPDX-License-Identifier: Apache-2.0
//! [`Loaded`]: from a TOML file, a `redis.conf`, or neither, then from the command line, to a
//! configuration.

use super::conf::{Conf, Directive, Error, merge};
use super::listening::Listening;
use super::names::ParameterTable;
use super::parameters::Parameters;
use super::shared;
use crate::settings::Configuration;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A configuration with parameters by their Redis names.
pub trait RedisConfiguration: Configuration + Default + DeserializeOwned {
    /// The table of parameters.
    type Table: ParameterTable;

    /// The port that is listened on by default.
    const PORT: u16;

    /// The parameters that are not a key of a shared section.
    fn parameters_mut(&mut self) -> &mut Parameters<Self::Table>;
}

/// A configuration, the warnings about it, and the kind of its file.
#[derive(Debug, Default)]
pub struct Loaded<C> {
    /// The configuration.
    pub config: C,
    /// Settings without effect, a line each.
    pub warnings: Vec<String>,
    /// Whether it comes from a TOML file, not from a `redis.conf` or flags alone.
    pub is_ours: bool,
}

impl<C: RedisConfiguration> Loaded<C> {
    /// The configuration of `file`, if there is one, changed by `flags`.
    ///
    /// Without a TOML file there is no admin plane unless a flag asks for it: users who start the
    /// server in the way of Redis, perhaps several times, expect Redis's ports and no other.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or has names that no parameter has, or a value in it or on the command line is not
    /// possible.
    pub fn load(file: Option<&Path>, flags: Vec<Directive>) -> Result<Self, Error> {
        let mut loaded = Loaded { config: C::default(), warnings: Vec::new(), is_ours: false };
        let (mut directives, mut idle) = (Vec::new(), Vec::new());
        loaded.config.sections_mut().admin.enabled = false;
        match file {
            None => {}
            Some(file) => {
                let text = config::read(file)?;
                if is_toml(file, &text) {
                    loaded.config = config::parse(text, &config::name(file))?;
                    loaded.is_ours = true;
                } else {
                    let conf = Conf::parse::<C::Table>(&String::from_utf8_lossy(&text), file)?;
                    if !conf.unknown.is_empty() {
                        return Err(Error::Unknown(conf.unknown));
                    }
                    for (name, place) in conf.elsewhere {
                        idle.push(format!("{name} ({place}: there is no such parameter here)"));
                    }
                    directives = conf.directives;
                }
            }
        }
        directives.extend(flags);
        loaded.apply(merge(directives), idle)?;
        Ok(loaded)
    }

    /// Overrides earlier settings with these directives, and warns of those without effect, after the `idle` ones.
    fn apply(&mut self, directives: Vec<Directive>, mut idle: Vec<String>) -> Result<(), Error> {
        let mut listening = Listening::default();
        let directory = directives.iter().rfind(|directive| directive.parameter.name == "dir");
        let directory = directory.map(|directive| PathBuf::from(&directive.value));
        for mut directive in directives {
            let parameter = directive.parameter;
            // The server does not go there, as Redis does, but this file is where it would find it.
            if parameter.name == "aclfile"
                && !directive.value.is_empty()
                && let Some(directory) = &directory
            {
                directive.value = directory.join(&directive.value).to_string_lossy().into_owned();
            }
            let shown = C::Table::canonical(parameter, &directive.value);
            let shown = shown.map_err(|problem| directive.refused(problem))?;
            if parameter.place.is_some() {
                directive.value = shown;
                if !listening.take(&directive)? {
                    let mut sections = self.config.sections_mut();
                    shared::set(&mut sections, parameter.name, &directive.value);
                }
                continue;
            }
            let why = self.config.parameters_mut().set(parameter, &directive.value);
            if let Some(why) = why.map_err(|problem| directive.refused(problem))? {
                idle.push(format!("{} ({}: {why})", parameter.name, directive.place));
            }
        }
        if !idle.is_empty() {
            self.warnings.push(format!("without effect: {}", idle.join(", ")));
        }
        let sections = self.config.sections_mut();
        listening.apply(sections.server, sections.tls, C::PORT)
    }
}

/// Whether a file is TOML: by its name, or else by its first line that is not empty or a comment.
fn is_toml(file: &Path, text: &[u8]) -> bool {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("conf") => false,
        _ => {
            let text = String::from_utf8_lossy(text);
            let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
            let first = text.lines().map(str::trim).find(says).unwrap_or_default();
            first.starts_with('[') || first.contains('=')
        }
    }
}
