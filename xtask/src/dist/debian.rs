// SPDX-License-Identifier: Apache-2.0
//! A Debian package of one program.

use super::binary::Binary;
use super::program::Program;
use super::stage::{self, Stage};
use super::tools::{Outcome, architecture, finish, output, text};
use super::{Release, pages};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The revision of the packaging.
const REVISION: u32 = 1;

/// The widest line of a description, after its blank.
const WIDTH: usize = 78;

/// Makes it and returns its path.
pub(super) fn make(release: &Release, binary: &Binary) -> Outcome<PathBuf> {
    let program = binary.program;
    let (name, package) = (program.name, program.package);
    let stage = Stage::new(release.out.join("stage").join(package), release.epoch)?;
    stage.program(&format!("usr/bin/{name}"), binary.bytes()?)?;
    for (from, to) in pages(release, program)? {
        let text = release.read(&format!("packaging/{from}"))?;
        match to.starts_with("man/") {
            true => stage.compressed(&format!("usr/share/{to}"), text)?,
            false => stage.file(&format!("usr/share/{to}"), text)?,
        }
    }
    let docs = format!("usr/share/doc/{package}");
    stage.file(&format!("{docs}/copyright"), copyright(release))?;
    stage.compressed(&format!("{docs}/changelog"), release.read("CHANGELOG.md")?)?;
    stage.compressed(&format!("{docs}/third-party-licences.txt"), &release.licences)?;
    if let Some(service) = &program.service {
        let unit = release.read(&format!("packaging/systemd/{name}.service"))?;
        stage.file(&format!("usr/lib/systemd/system/{name}.service"), unit)?;
        stage.file(&format!("etc/shoebill/{name}.toml"), release.configuration(name, service)?)?;
    }
    // What dpkg compares installed files with, and how much they take.
    let files = files(stage.folder(), "")?;
    let (mut sums, mut bytes) = (String::new(), 0);
    for file in files.iter().filter(|file| !file.starts_with("etc/")) {
        let path = stage.folder().join(file);
        let told = output("md5sum", &["--binary", text(&path)?])?;
        sums.push_str(&format!("{}  {file}\n", told.split(' ').next().unwrap_or_default()));
        bytes += fs::metadata(&path).map_err(|error| format!("{file}: {error}"))?.len();
    }
    stage.file("DEBIAN/md5sums", sums)?;
    stage.file("DEBIAN/control", control(release, binary, bytes.div_ceil(1024))?)?;
    if program.service.is_some() {
        stage.file("DEBIAN/conffiles", format!("/etc/shoebill/{name}.toml\n"))?;
        for script in ["postinst", "prerm", "postrm"] {
            let text = release.read(&format!("packaging/debian/{script}.sh"))?;
            stage.program(&format!("DEBIAN/{script}"), text.replace("@PROGRAM@", name))?;
        }
    }
    stage.seal()?;
    let path = release.out.join(format!(
        "{package}_{}-{REVISION}_{}.deb",
        release.version,
        architecture()?
    ));
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    build.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]);
    finish(build.arg(stage.folder()).arg(&path))?;
    Ok(path)
}

fn control(release: &Release, binary: &Binary, kibibytes: u64) -> Outcome<String> {
    let Program { package, about, description, service, .. } = binary.program;
    let mut depends = binary.depends()?;
    if service.is_some() {
        depends.insert(0, "adduser".to_owned());
    }
    let section = if service.is_some() { "database" } else { "utils" };
    Ok(format!(
        "Package: {package}\n\
         Version: {}-{REVISION}\n\
         Architecture: {}\n\
         Maintainer: The Shoebill authors <shoebill@localhost>\n\
         Installed-Size: {kibibytes}\n\
         Depends: {}\n\
         Section: {section}\n\
         Priority: optional\n\
         Description: {about}\n{}",
        release.version,
        architecture()?,
        depends.join(", "),
        indented(description)
    ))
}

/// A description as the lines of its field.
fn indented(description: &str) -> String {
    let (mut text, mut width) = (String::new(), WIDTH);
    for word in description.split_ascii_whitespace() {
        if width + 1 + word.len() > WIDTH {
            text.push_str(if text.is_empty() { " " } else { "\n " });
            width = word.len();
        } else {
            text.push(' ');
            width += 1 + word.len();
        }
        text.push_str(word);
    }
    text + "\n"
}

fn copyright(release: &Release) -> String {
    format!(
        "Shoebill {}\n\nCopyright: The Shoebill authors\nLicence: Apache License, Version 2.0, see \
         /usr/share/common-licenses/Apache-2.0\n\nThe licences of the libraries that are linked into the program \
         are in third-party-licences.txt.gz.\n",
        release.version
    )
}

/// The paths of all files below `folder`, sorted, each with `prefix` in front.
fn files(folder: &Path, prefix: &str) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for name in stage::names(folder)? {
        let (path, shown) = (folder.join(&name), format!("{prefix}{name}"));
        match path.is_dir() {
            true => found.extend(files(&path, &format!("{shown}/"))?),
            false => found.push(shown),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_broken_into_lines_that_begin_with_a_blank() {
        let long = "word ".repeat(20);
        let text = indented(&long);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines.iter().all(|line| line.starts_with(" word") && line.len() <= WIDTH + 1));
        assert_eq!(text.split_ascii_whitespace().count(), 20);
    }
}
