// SPDX-License-Identifier: Apache-2.0
//! The tarball: all programs with their configurations, units, pages and completions, to be unpacked below `/usr/local` or
//! run where it is.

use super::binary::Binary;
use super::stage::Stage;
use super::tools::{Outcome, gzip};
use super::{Release, pages};
use std::path::PathBuf;

/// Makes it and returns its path.
pub(super) fn make(release: &Release, binaries: &[Binary]) -> Outcome<PathBuf> {
    let name = format!("shoebill-{}-{}-linux-gnu", release.version, std::env::consts::ARCH);
    let stage = Stage::new(release.out.join("stage/tarball"), release.epoch)?;
    for binary in binaries {
        let program = binary.program.name;
        stage.program(&format!("{name}/bin/{program}"), binary.bytes()?)?;
        for (from, to) in pages(release, binary.program)? {
            stage
                .file(&format!("{name}/share/{to}"), release.read(&format!("packaging/{from}"))?)?;
        }
        if let Some(service) = &binary.program.service {
            let file = release.configuration(program, service)?;
            stage.file(&format!("{name}/etc/shoebill/{program}.toml"), file)?;
            let unit = release.read(&format!("packaging/systemd/{program}.service"))?;
            stage.file(&format!("{name}/lib/systemd/system/{program}.service"), unit)?;
        }
    }
    let docs = format!("{name}/share/doc/shoebill");
    stage.file(&format!("{docs}/LICENSE"), release.read("LICENSE")?)?;
    stage.file(&format!("{docs}/CHANGELOG.md"), release.read("CHANGELOG.md")?)?;
    stage.file(&format!("{docs}/third-party-licences.txt"), &release.licences)?;
    stage.file(&format!("{docs}/REQUIREMENTS"), requirements(binaries))?;
    let path = release.out.join(format!("{name}.tar"));
    stage.archive(&path)?;
    gzip(&path)?;
    Ok(path.with_extension("tar.gz"))
}

/// What the programs need of the system that runs them.
fn requirements(binaries: &[Binary]) -> String {
    let mut text =
        "Linux 5.10 or later, libgcc_s.so.1, and glibc of at least this version:\n".to_owned();
    for binary in binaries {
        text.push_str(&format!("{} {}\n", binary.program.name, binary.glibc()));
    }
    text
}
