// SPDX-License-Identifier: Apache-2.0
//! How much memory there is: that of the machine, or the limit of the process's cgroup.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Memory of the machine; 0 if the system does not tell.
pub(crate) fn total_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Memory that the process may use, determined at the first call: that of the machine, or less if its cgroup
/// has a limit; `u64::MAX` if the system reports neither.
pub(crate) fn usable_bytes() -> u64 {
    static USABLE: OnceLock<u64> = OnceLock::new();
    *USABLE.get_or_init(|| {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let total = Some(total_bytes()).filter(|bytes| *bytes > 0);
        let limit = group_limit(Path::new("/sys/fs/cgroup"), &groups);
        total.into_iter().chain(limit).min().unwrap_or(u64::MAX)
    })
}

/// The smallest limit of the cgroups that a process is in, and of their parents. `groups` is what
/// `/proc/self/cgroup` says: `0::/a/b` of version 2, `4:memory:/a/b` of version 1.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (base, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        // In a container the path can be one of the host that does not exist here; then the root is
        // the container's own group.
        let group = base.join(group.trim_start_matches('/'));
        let limits =
            group.ancestors().take_while(|folder| folder.starts_with(&base)).filter_map(|folder| {
                fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok()
            });
        least = least.into_iter().chain(limits).min();
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_least_limit_of_those_around_it() {
        let folder = std::env::temp_dir().join(format!("shoebill-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
            fs::write(path, text).expect("a new file");
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "4000\n");
        assert_eq!(group_limit(&folder, "0::/a/b\n"), Some(5000));
        assert_eq!(group_limit(&folder, "0::/a/b\n4:cpu,memory:/c\n"), Some(4000));
        assert_eq!(group_limit(&folder, "0::/elsewhere\n3:cpu:/a\n"), None);
        fs::remove_dir_all(&folder).expect("its own folder");
        assert!(total_bytes() > 0 && usable_bytes() > 0);
    }
}
