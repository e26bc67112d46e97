// SPDX-License-Identifier: Apache-2.0
//! [`Catalogue`]: the commands that a service supports.

use super::{CommandId, all, find_full};
use std::fmt;

/// The part of the table that a service supports, and that its `COMMAND` shows.
#[derive(Clone, Copy)]
pub struct Catalogue {
    has: fn(CommandId) -> bool,
}

impl Catalogue {
    /// The whole table.
    pub const ALL: Catalogue = Catalogue { has: |_| true };

    /// Those commands and sub-commands for which `has` is true.
    #[must_use]
    pub const fn of(has: fn(CommandId) -> bool) -> Self {
        Catalogue { has }
    }

    /// Whether a command is in it.
    #[must_use]
    pub fn has(self, command: CommandId) -> bool {
        (self.has)(command)
    }

    /// Its commands and sub-commands.
    pub fn iter(self) -> impl Iterator<Item = CommandId> + Clone {
        all().filter(move |&command| self.has(command))
    }

    /// Its commands without the sub-commands.
    pub fn commands(self) -> impl Iterator<Item = CommandId> + Clone {
        self.iter().filter(|command| !command.is_sub())
    }

    /// The sub-commands of a container that are in it.
    pub fn subcommands(self, container: CommandId) -> impl Iterator<Item = CommandId> + Clone {
        container.subcommands().filter(move |&command| self.has(command))
    }

    /// The command or sub-command that `container|sub` or `name` means, if it is in it.
    #[must_use]
    pub fn find_full(self, name: &[u8]) -> Option<CommandId> {
        find_full(name).filter(|&command| self.has(command))
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|command| command.spec().name)).finish()
    }
}
