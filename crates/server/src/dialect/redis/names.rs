// SPDX-License-Identifier: Apache-2.0
//! [`ParameterTable`]: the contract of a server's table of parameters.

use std::fmt;

/// A parameter: its name, default and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Its default, as it is written.
    pub default: &'static str,
    /// What it is for, in a sentence; empty if it is accepted but unused.
    pub about: &'static str,
    /// The key of a TOML file that sets the same, `[section] key`; `None` if it is set by this name.
    pub place: Option<&'static str>,
    /// Whether its value can be several words, each an argument of its own on a command line.
    pub is_list: bool,
    /// Whether its value is a password, or has passwords in it.
    pub is_secret: bool,
    /// Whether the values of its lines are joined, up to the last that is empty; of others the last one counts.
    pub adds_up: bool,
}

/// A table of parameters.
pub trait ParameterTable: Clone + Copy + fmt::Debug + Default + PartialEq + Eq + 'static {
    /// All of them.
    fn all() -> impl Iterator<Item = Name>;

    /// The one with this name or alias, in any case.
    fn find(name: &[u8]) -> Option<Name>;

    /// A value in the form in which it is shown.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn canonical(name: Name, value: &str) -> Result<String, String>;

    /// Why a value has no effect; `None` if it has one.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or why the server cannot start with it.
    fn without_effect(name: Name, value: &str) -> Result<Option<&'static str>, String>;

    /// The words of a line, quoted ones without their quotes; `None` if quotes are not balanced.
    fn words(line: &str) -> Option<Vec<String>>;
}
