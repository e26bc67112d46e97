// SPDX-License-Identifier: Apache-2.0
//! The configuration of `pingserver`: the sections that all servers share and nothing else.

/// The port that is listened on by default.
pub(crate) const PORT: u16 = 12321;

server::configuration! {
    /// The whole file.
    pub(crate) struct Config {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use config::page::{self, Own};
    use manual::Manual;
    use server::settings::Configuration;
    use std::path::Path;

    /// What differs from the defaults that all servers share.
    const OWN: [Own; 4] = [
        Own { key: "[server] port", default: "12321", absent: "" },
        Own { key: "[server] read_timeout", default: "", absent: "`\"1m\"`" },
        Own { key: "[server] write_timeout", default: "", absent: "`\"1m\"`" },
        Own { key: "[worker] output_memory", default: "", absent: "`\"64MB\"`" },
    ];

    #[test]
    fn pages_follow_from_the_table() {
        assert_eq!(OWN[0].default, PORT.to_string());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = page::toml(&page::head("pingserver"), &Config::tables(), &OWN, |_| None);
        page::keep(&root.join("packaging/config/pingserver.toml"), |_| file.clone());
        let exits = [
            ("0", "It was told to stop, or to print something, and did."),
            (
                "1",
                "The configuration is wrong, or it cannot go on; the last line of standard error says why.",
            ),
            ("2", "The command line is wrong."),
        ];
        Manual::new(crate::Args::command())
            .section("EXIT STATUS", &exits)
            .server()
            .settings(Config::tables(), &OWN)
            .keep(&root);
        page::keep(&root.join("docs/configuration.md"), |old| {
            let mark = "defaults of pingserver";
            page::with_part(old, mark, &page::own_markdown(&OWN)).expect(mark)
        });
    }
}
