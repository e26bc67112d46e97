// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask dist`: packages of the programs, made of what cargo has built.
//!
//! A tarball with everything, a Debian package of each program, and an OCI image of each server, which is made without a
//! daemon. The same source and the same programs make the same bytes: times are those of the commit or
//! `SOURCE_DATE_EPOCH`, files are sorted and belong to root.
//!
//! * `dist/program.rs`: the programs. `dist/binary.rs`: what a program needs of the system.
//! * `dist/stage.rs`: a folder that becomes an archive. `dist/licences.rs`: the licences of what is linked.
//! * `dist/tarball.rs`, `dist/debian.rs`, `dist/image.rs`: one kind of package each.
//! * `dist/tools.rs`: running the tools that do the work: `tar`, `gzip`, `dpkg-deb`, `strip`, `readelf`.

mod binary;
mod debian;
mod image;
mod licences;
mod program;
mod stage;
mod tarball;
mod tools;

use binary::Binary;
use program::{ADMIN_PORT, PROGRAMS, Program, Service};
use std::fs;
use std::path::{Path, PathBuf};
use tools::{Outcome, output};

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Dist {
    profile: String,
    out: Option<PathBuf>,
}

/// What all packages have in common.
#[derive(Debug)]
struct Release {
    /// The workspace.
    root: PathBuf,
    /// Where stages and packages are made.
    out: PathBuf,
    version: String,
    /// The time that all files have, in seconds since 1970.
    epoch: u64,
    /// The licences of all crates that are linked.
    licences: String,
}

impl Dist {
    /// What `words` ask for: `[--profile NAME] [--out FOLDER]`; `None` if they ask for something else.
    #[must_use]
    pub fn parse(words: &[&str]) -> Option<Self> {
        let mut dist = Dist { profile: "dist".to_owned(), out: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--profile" => (*words.next()?).clone_into(&mut dist.profile),
                "--out" => dist.out = Some(PathBuf::from(words.next()?)),
                _ => return None,
            }
        }
        Some(dist)
    }

    /// Makes all packages of the workspace at `root` and prints their paths.
    ///
    /// # Errors
    ///
    /// What is missing, or which tool failed and what it said.
    pub fn make(self, root: &Path) -> Outcome<()> {
        let root =
            fs::canonicalize(root).map_err(|error| format!("{}: {error}", root.display()))?;
        let metadata = licences::metadata(&root)?;
        let target = metadata["target_directory"].as_str().ok_or("no target folder")?;
        // The folder of the profile `dev` is the only one with another name.
        let folder = if self.profile == "dev" { "debug" } else { self.profile.as_str() };
        let built = Path::new(target).join(folder);
        let out = self.out.unwrap_or_else(|| Path::new(target).join("packages"));
        stage::renew(&out)?;
        let out = fs::canonicalize(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        let release = Release {
            version: version(&metadata)?,
            epoch: epoch(&root)?,
            licences: licences::of(&metadata, PROGRAMS)?,
            root,
            out,
        };
        let mut binaries = Vec::new();
        for program in PROGRAMS {
            let path = built.join(program.name);
            if !path.exists() {
                let names: String =
                    PROGRAMS.iter().map(|it| format!(" --bin {}", it.name)).collect();
                let profile = &self.profile;
                return Err(format!(
                    "{} is missing; build it: cargo build --profile {profile} --workspace{names}",
                    path.display()
                ));
            }
            binaries.push(Binary::stripped(&path, &release.out.join("stripped"), program)?);
        }
        let mut made = vec![tarball::make(&release, &binaries)?];
        for binary in &binaries {
            made.push(debian::make(&release, binary)?);
            if binary.program.service.is_some() {
                made.push(image::make(&release, binary)?);
            }
        }
        for path in made {
            println!("{}", path.display());
        }
        Ok(())
    }
}

impl Release {
    fn read(&self, path: &str) -> Outcome<String> {
        fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    /// The configuration that the server `name` is installed with.
    fn configuration(&self, name: &str, service: &Service) -> Outcome<String> {
        let path = format!("packaging/config/{name}.toml");
        let text = self.read(&path)?;
        service.installed(&text).ok_or_else(|| format!("{path}: it has no port {ADMIN_PORT}"))
    }
}

fn version(metadata: &serde_json::Value) -> Outcome<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut named = packages.filter(|package| package["name"] == PROGRAMS[0].package);
    let version = named.next().and_then(|package| package["version"].as_str());
    version.map(str::to_owned).ok_or_else(|| format!("no package {}", PROGRAMS[0].package))
}

/// `SOURCE_DATE_EPOCH`, or the time of the last commit.
fn epoch(root: &Path) -> Outcome<u64> {
    let said = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(said) => said,
        Err(_) => output("git", &["-C", tools::text(root)?, "log", "-1", "--format=%ct"])?,
    };
    said.trim().parse().map_err(|_| format!("SOURCE_DATE_EPOCH: {said} is not a number of seconds"))
}

/// Man pages and completions of a program below `root`: where each is in the workspace, and where it is installed.
fn pages(release: &Release, program: &Program) -> Outcome<Vec<(String, String)>> {
    let name = program.name;
    let mut pages = vec![
        (format!("completions/{name}.bash"), format!("bash-completion/completions/{name}")),
        (format!("completions/_{name}"), format!("zsh/vendor-completions/_{name}")),
        (format!("completions/{name}.fish"), format!("fish/vendor_completions.d/{name}.fish")),
    ];
    for page in stage::names(&release.root.join("packaging/man"))? {
        let (stem, section) = page.rsplit_once('.').ok_or_else(|| format!("{page}: no section"))?;
        let is_its_own = stem == name || stem == format!("{name}.toml");
        if is_its_own || stem.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')) {
            pages.push((format!("man/{page}"), format!("man/man{section}/{page}")));
        }
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read() {
        let dist = |profile: &str, out| Some(Dist { profile: profile.to_owned(), out });
        assert_eq!(Dist::parse(&[]), dist("dist", None));
        let words = ["--out", "x", "--profile", "release"];
        assert_eq!(Dist::parse(&words), dist("release", Some(PathBuf::from("x"))));
        assert_eq!(Dist::parse(&["--profile"]), None);
        assert_eq!(Dist::parse(&["x"]), None);
    }
}
