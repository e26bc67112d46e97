// SPDX-License-Identifier: Apache-2.0
//! [`Binary`]: a built program, and what it needs of the system.

use super::program::Program;
use super::tools::{Outcome, output, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A built program without debug information.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) program: &'static Program,
    pub(super) path: PathBuf,
    needs: Needs,
}

/// The versions of symbols that a program takes from each library, and the libraries that it names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    libraries: Vec<String>,
    /// By prefix, such as `GLIBC`: the highest version.
    versions: BTreeMap<String, Vec<u32>>,
}

/// A library that programs may need: its Debian package, and the prefix of its symbols' versions.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("libc.so.6", "libc6", "GLIBC"),
    ("libm.so.6", "libc6", "GLIBC"),
    ("ld-linux-", "libc6", "GLIBC"),
    ("libgcc_s.so.1", "libgcc-s1", "GCC"),
];

impl Binary {
    /// A copy of the program at `path` in `folder`. Names of functions stay, for backtraces.
    pub(super) fn stripped(path: &Path, folder: &Path, program: &'static Program) -> Outcome<Self> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let copy = folder.join(program.name);
        output("strip", &["--strip-debug", "-o", text(&copy)?, text(path)?])?;
        let needs = Needs::read(&output(
            "readelf",
            &["--wide", "--dynamic", "--version-info", text(&copy)?],
        )?);
        Ok(Binary { program, path: copy, needs })
    }

    pub(super) fn bytes(&self) -> Outcome<Vec<u8>> {
        fs::read(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// What a Debian package of it depends on.
    pub(super) fn depends(&self) -> Outcome<Vec<String>> {
        self.needs.depends().map_err(|problem| format!("{}: {problem}", self.program.name))
    }

    /// The version of glibc that it needs.
    pub(super) fn glibc(&self) -> String {
        self.needs.version("GLIBC")
    }

    /// The loader and the libraries of this system that it runs with.
    pub(super) fn libraries(&self) -> Outcome<Vec<PathBuf>> {
        let told = output("ldd", &[text(&self.path)?])?;
        Ok(told.lines().filter_map(library).map(PathBuf::from).collect())
    }
}

/// The path in a line of `ldd`: `libc.so.6 => /lib/…/libc.so.6 (0x…)`, or a path alone for the loader.
fn library(line: &str) -> Option<&str> {
    let word =
        line.rsplit_once("=>").map_or(line, |(_, path)| path).split_ascii_whitespace().next()?;
    word.starts_with('/').then_some(word)
}

impl Needs {
    /// What `readelf --dynamic --version-info` prints.
    fn read(told: &str) -> Self {
        let mut needs = Needs::default();
        for line in told.lines() {
            if let Some((_, name)) = line.split_once("(NEEDED)").and_then(|it| it.1.split_once('['))
            {
                needs.libraries.push(name.trim_end_matches(']').to_owned());
            }
            let Some((_, name)) = line.split_once("Name: ") else { continue };
            let name = name.split_ascii_whitespace().next().unwrap_or_default();
            // `GLIBC_ABI_DT_RELR` and its like are no versions.
            let Some((prefix, version)) = name.split_once('_') else { continue };
            let numbers = version.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>();
            let Ok(numbers) = numbers else { continue };
            let highest = needs.versions.entry(prefix.to_owned()).or_default();
            if numbers > *highest {
                *highest = numbers;
            }
        }
        needs
    }

    fn depends(&self) -> Outcome<Vec<String>> {
        let mut depends = Vec::new();
        for library in &self.libraries {
            let known = LIBRARIES.iter().find(|(name, ..)| library.starts_with(name));
            let (_, package, prefix) =
                known.ok_or_else(|| format!("no package is known for {library}"))?;
            let depend = format!("{package} (>= {})", self.version(prefix));
            if !depends.contains(&depend) {
                depends.push(depend);
            }
        }
        depends.sort_unstable();
        Ok(depends)
    }

    fn version(&self, prefix: &str) -> String {
        let numbers = self.versions.get(prefix).map_or(&[][..], Vec::as_slice);
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        if words.is_empty() { "0".to_owned() } else { words.join(".") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "\
 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
  0x0010:   Name: GCC_3.0  Flags: none  Version: 19
  0x0020:   Name: GLIBC_2.9  Flags: none  Version: 18
  0x0030:   Name: GLIBC_2.34  Flags: none  Version: 17
  0x0040:   Name: GLIBC_2.2.5  Flags: none  Version: 16
  0x0050:   Name: GLIBC_ABI_DT_RELR  Flags: none  Version: 15
";

    #[test]
    fn a_package_depends_on_the_newest_symbols_that_are_used() {
        let depends = Needs::read(TOLD).depends().expect("all are known");
        assert_eq!(depends, ["libc6 (>= 2.34)", "libgcc-s1 (>= 3.0)"]);
    }

    #[test]
    fn an_unknown_library_is_an_error() {
        let told = "0x1 (NEEDED) Shared library: [libssl.so.3]";
        let problem = Needs::read(told).depends().expect_err("nobody knows it");
        assert_eq!(problem, "no package is known for libssl.so.3");
    }

    #[test]
    fn libraries_are_found_by_their_paths() {
        assert_eq!(library("\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f)"), Some("/lib/x/libc.so.6"));
        assert_eq!(
            library("\t/lib64/ld-linux-x86-64.so.2 (0x00007f)"),
            Some("/lib64/ld-linux-x86-64.so.2")
        );
        assert_eq!(library("\tlinux-vdso.so.1 (0x00007ffd)"), None);
    }
}
