// SPDX-License-Identifier: Apache-2.0
//! Reading the texts under `/proc/self`. Pure functions over their contents, see `man 5 proc`.

/// What `/proc/self/stat` knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Page faults that needed no disk.
    pub(crate) minor_faults: u64,
    /// Page faults that did.
    pub(crate) major_faults: u64,
    /// Time in user mode, in hundredths of a second (the kernel's `USER_HZ`).
    pub(crate) user_ticks: u64,
    /// Time in the kernel, in the same unit.
    pub(crate) system_ticks: u64,
    /// Threads alive.
    pub(crate) threads: i64,
    /// When the process started, in the same unit since the system did.
    pub(crate) start_ticks: u64,
    /// Address space in bytes.
    pub(crate) virtual_bytes: i64,
}

impl Stat {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The second field is the program's name in parentheses, and may contain anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_ascii_whitespace().collect();
        // The manual counts from 1, and the first field left is its third.
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            minor_faults: field(10)?.parse().ok()?,
            major_faults: field(12)?.parse().ok()?,
            user_ticks: field(14)?.parse().ok()?,
            system_ticks: field(15)?.parse().ok()?,
            threads: field(20)?.parse().ok()?,
            start_ticks: field(22)?.parse().ok()?,
            virtual_bytes: field(23)?.parse().ok()?,
        })
    }
}

/// The number after `key:` in `/proc/self/status` or `/proc/self/io`.
pub(crate) fn keyed(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

/// When the system started, in seconds since 1970, as `/proc/stat` tells.
pub(crate) fn boot_seconds(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

/// The soft limit on open files in `/proc/self/limits`; `None` when there is none.
pub(crate) fn open_files_max(text: &str) -> Option<i64> {
    let limits = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    limits.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_a_program_name_with_spaces_and_parentheses() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194304 101 0 12 0 1400 1500 0 0 20 0 3 0 1234 \
                    8192000 500 18446744073709551615";
        let stat = Stat {
            minor_faults: 101,
            major_faults: 12,
            user_ticks: 1400,
            system_ticks: 1500,
            threads: 3,
            start_ticks: 1234,
            virtual_bytes: 8_192_000,
        };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("7 (cut) S 1 7"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn a_key_is_matched_whole() {
        let text = "VmHWMx:\t1 kB\nVmHWM:\t   4096 kB\nnonvoluntary_ctxt_switches:\t9\n\
                    voluntary_ctxt_switches:\t5\n";
        assert_eq!(keyed(text, "VmHWM"), Some(4096));
        assert_eq!(keyed(text, "voluntary_ctxt_switches"), Some(5));
        assert_eq!(keyed(text, "VmRSS"), None);
    }

    #[test]
    fn the_boot_has_a_line_of_its_own() {
        assert_eq!(boot_seconds("cpu 1 2\nbtime 1764000000\nprocesses 5\n"), Some(1_764_000_000));
        assert_eq!(boot_seconds("cpu 1 2\n"), None);
    }

    #[test]
    fn no_limit_is_no_number() {
        let head = "Limit                     Soft Limit           Hard Limit           Units\n";
        let line = "Max open files            1024                 1048576              files\n";
        assert_eq!(open_files_max(&format!("{head}{line}")), Some(1024));
        assert_eq!(open_files_max(&line.replace("1024 ", "unlimited ")), None);
        assert_eq!(open_files_max(head), None);
    }
}
