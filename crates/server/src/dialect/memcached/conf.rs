// SPDX-License-Identifier: Apache-2.0
//! `memcached.conf`: a file of flags, as Debian's scripts give them to memcached.

use std::ffi::OsString;
use std::path::Path;

/// What a `memcached.conf` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Conf {
    /// The words of a command line.
    pub(super) words: Vec<OsString>,
    /// Lines without effect, by their first word.
    pub(super) idle: Vec<String>,
}

impl Conf {
    /// Reads the file if it is one of flags: it is named `….conf`, and its first line that says something is
    /// a flag or `logfile`. A file that cannot be read is none: it is read again as a configuration of ours,
    /// with the error.
    pub(super) fn read(path: &Path) -> Option<Self> {
        path.extension().filter(|extension| *extension == "conf")?;
        let text = config::read(path).ok()?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// A flag per line, with its value; what follows `#` is a comment. `-d` and `-h` are left out: whoever
    /// starts the server says whether it goes to the background.
    fn parse(text: &str) -> Option<Self> {
        let lines = text.lines().map(without_comment).filter(|line| !line.is_empty());
        let mut conf = Conf::default();
        for (index, line) in lines.enumerate() {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            if line.starts_with('-') {
                if !line.starts_with("-d") && !line.starts_with("-h") {
                    conf.words.extend(line.split_whitespace().map(OsString::from));
                }
            } else if index == 0 && first != "logfile" {
                return None;
            } else {
                conf.idle.push(first.to_owned());
            }
        }
        (conf != Conf::default()).then_some(conf)
    }
}

fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| !line[..*at].ends_with('\\');
    let end = line.match_indices('#').map(|(at, _)| at).find(is_comment);
    line[..end.unwrap_or(line.len())].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Debian's package has it, with fewer comments.
    const DEBIAN: &str = "# memcached default config file\n# 2003\n\n-d\n\n\
        # Log memcached's output to /var/log/memcached\nlogfile /var/log/memcached.log\n\n# -vv\n\
        -m 64\n-p 11211 # the port\n-u memcache\n-l 127.0.0.1\n-l ::1\n# -c 1024\n\
        -P /var/run/memcached/memcached.pid\n";

    #[test]
    fn debians_file_is_a_command_line() {
        let conf = Conf::parse(DEBIAN).expect("it begins with a flag");
        let expected = "-m 64 -p 11211 -u memcache -l 127.0.0.1 -l ::1 \
                        -P /var/run/memcached/memcached.pid";
        assert_eq!(conf.words.join(" ".as_ref()), expected);
        assert_eq!(conf.idle, ["logfile"]);
    }

    #[test]
    fn a_configuration_of_ours_is_none() {
        for text in ["", "# nothing\n", "[server]\nport = 1\n", "port = 1\n-d\n", "-d\n-h\n"] {
            assert_eq!(Conf::parse(text), None, "{text:?}");
        }
        assert_eq!(Conf::read("/nowhere/memcached.conf".as_ref()), None);
        assert_eq!(Conf::read("/nowhere/segcache.toml".as_ref()), None);
    }
}
