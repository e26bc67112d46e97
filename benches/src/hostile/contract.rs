// SPDX-License-Identifier: Apache-2.0
//! Commands that are left out, because their contract is to do what a hostile client must not be able to.

use protocol_resp::table::CommandId;

/// How often a command is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dose {
    /// As often as all others.
    Often,
    /// Once in [`SELDOM`] turns.
    Seldom,
    /// Not at all.
    Never,
}

/// Of so many turns of a command that is sent seldom, one is taken.
pub const SELDOM: u32 = 50;

/// Those that are not sent as often as all others, and why.
pub const EXCEPTIONS: [(&str, Dose, &str); 9] = [
    ("shutdown", Dose::Never, "ends the server"),
    ("client|kill", Dose::Never, "closes the connections that measure"),
    ("client|pause", Dose::Never, "stops all clients, which is what it is for"),
    ("config|set", Dose::Never, "changes the limits that are checked"),
    ("failover", Dose::Never, "hands over to another server"),
    ("flushall", Dose::Seldom, "leaves no memory to be full"),
    ("flushdb", Dose::Seldom, "leaves no memory to be full"),
    ("monitor", Dose::Seldom, "tells one client of all requests of the others"),
    ("quit", Dose::Seldom, "ends what the client had begun"),
];

/// How often a command is sent.
#[must_use]
pub fn dose(command: CommandId) -> Dose {
    let name = command.spec().name;
    EXCEPTIONS.iter().find(|(known, ..)| *known == name).map_or(Dose::Often, |(_, dose, _)| *dose)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_resp::table;

    #[test]
    fn every_exception_is_a_command() {
        let known =
            EXCEPTIONS.iter().filter(|(name, ..)| table::find_full(name.as_bytes()).is_some());
        assert_eq!(known.count(), EXCEPTIONS.len());
        assert_eq!(dose(table::find(b"get").unwrap()), Dose::Often);
        assert_eq!(dose(table::find(b"shutdown").unwrap()), Dose::Never);
    }
}
