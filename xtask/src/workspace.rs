// SPDX-License-Identifier: Apache-2.0
//! The input of the checks: packages, sources and documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::scan::Scan;

/// Directories that hold nothing written by hand. Those whose name begins with a dot are left out
/// too.
const SKIPPED: [&str; 4] = ["target", "artifacts", "corpus", "coverage"];

/// The prefix of our packages' names in a registry. Within the workspace the names have no prefix.
const PREFIX: &str = "shoebill-";

/// The workspace.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Where it is.
    pub root: PathBuf,
    /// Its members.
    pub packages: Vec<Package>,
    /// All Rust files.
    pub sources: Vec<Source>,
    /// All Markdown files.
    pub documents: Vec<Document>,
}

/// A member of the workspace.
#[derive(Debug, Default, Clone)]
pub struct Package {
    /// Its name, as members call it: without the prefix.
    pub name: String,
    /// Whether its name in the manifest has the prefix.
    pub prefixed: bool,
    /// Whether it may be published.
    pub published: bool,
    /// Its folder, relative to the workspace: `crates/config`.
    pub folder: String,
    /// The text of its manifest.
    pub manifest: String,
    /// `package.metadata.shoebill.layer`.
    pub layer: Option<u64>,
    /// `package.metadata.shoebill.unsafe-files`, relative to the folder.
    pub unsafe_files: Vec<String>,
    /// `package.metadata.shoebill.rooms`: the modules at the top of its library, the lowest first.
    pub rooms: Vec<String>,
    /// What it depends on directly.
    pub dependencies: Vec<Dependency>,
    /// The root files of its library and binaries, relative to the workspace.
    pub roots: Vec<String>,
}

/// A direct dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name, as members call it.
    pub name: String,
    /// When it is needed.
    pub kind: DependencyKind,
    /// Whether it is a member of the workspace.
    pub ours: bool,
}

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// By the package itself.
    Normal,
    /// By its build script.
    Build,
    /// By its tests, examples and benchmarks.
    Dev,
}

/// A Rust file.
#[derive(Debug)]
pub struct Source {
    /// Its path, relative to the workspace, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The text, taken apart.
    pub scan: Scan,
}

/// A Markdown file.
#[derive(Debug)]
pub struct Document {
    /// Its path, relative to the workspace, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Workspace {
    /// Reads the workspace at `root`.
    ///
    /// # Errors
    ///
    /// Says what could not be read: a file, or the output of `cargo metadata`.
    pub fn read(root: &Path) -> Result<Self, String> {
        let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
        let packages = packages(&root, &metadata(&root)?)?;
        let mut workspace = Workspace { root: root.clone(), packages, ..Workspace::default() };
        workspace.walk(&root)?;
        workspace.sources.sort_by(|a, b| a.path.cmp(&b.path));
        workspace.documents.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(workspace)
    }

    /// The member that others call `name`.
    #[must_use]
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    fn walk(&mut self, folder: &Path) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() {
                // What it leads to is read where it lies, where its own links are right.
                continue;
            }
            if kind.is_dir() {
                self.walk(&path)?;
            } else if name.ends_with(".rs") {
                self.sources.push(Source::new(&relative(&self.root, &path), &read(&path)?));
            } else if name.ends_with(".md") {
                let document = Document { path: relative(&self.root, &path), text: read(&path)? };
                self.documents.push(document);
            }
        }
        Ok(())
    }
}

impl Package {
    /// The path of its manifest, relative to the workspace.
    #[must_use]
    pub fn manifest_path(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// The line of the manifest that begins with `key`, or the first.
    #[must_use]
    pub fn manifest_line(&self, key: &str) -> usize {
        let is_it = |line: &str| {
            let rest = line.trim_start().strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        };
        self.manifest.lines().position(is_it).map_or(1, |index| index + 1)
    }
}

impl Source {
    /// A file of this path and text.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), text: text.to_owned(), scan: Scan::new(text) }
    }

    /// Whether it is only built for tests, benchmarks, examples or fuzzing.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let mut folders = self.path.split('/');
        folders.any(|name| matches!(name, "tests" | "benches" | "examples" | "fuzz" | "tests.rs"))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The members as `cargo metadata` describes them.
fn packages(root: &Path, metadata: &Value) -> Result<Vec<Package>, String> {
    list(&metadata["packages"]).map(|described| package(root, described)).collect()
}

fn package(root: &Path, described: &Value) -> Result<Package, String> {
    let manifest_path = PathBuf::from(text(&described["manifest_path"]));
    let ours = &described["metadata"]["shoebill"];
    let is_root = |target: &&Value| {
        list(&target["kind"]).any(|kind| matches!(text(kind), "lib" | "bin" | "proc-macro"))
    };
    let name = text(&described["name"]);
    Ok(Package {
        name: short(name).to_owned(),
        prefixed: name.starts_with(PREFIX),
        published: described["publish"].is_null(),
        folder: relative(root, manifest_path.parent().unwrap_or(root)),
        manifest: read(&manifest_path)?,
        layer: ours["layer"].as_u64(),
        unsafe_files: list(&ours["unsafe-files"]).map(|file| text(file).to_owned()).collect(),
        rooms: list(&ours["rooms"]).map(|room| text(room).to_owned()).collect(),
        dependencies: list(&described["dependencies"]).map(dependency).collect(),
        roots: list(&described["targets"])
            .filter(is_root)
            .map(|target| relative(root, Path::new(text(&target["src_path"]))))
            .collect(),
    })
}

fn dependency(described: &Value) -> Dependency {
    let ours = described["path"].is_string();
    let name = text(&described["name"]);
    Dependency {
        name: if ours { short(name) } else { name }.to_owned(),
        kind: match described["kind"].as_str() {
            Some("dev") => DependencyKind::Dev,
            Some("build") => DependencyKind::Build,
            _ => DependencyKind::Normal,
        },
        ours,
    }
}

fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

fn list(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_package_is_read_as_it_is() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let workspace = Workspace::read(&root).unwrap();
        let package = workspace.package("xtask").unwrap();
        assert_eq!(package.folder, "xtask");
        assert_eq!(package.layer, Some(9));
        assert_eq!(package.manifest_path(), "xtask/Cargo.toml");
        assert_eq!(package.manifest_line("name"), 2);
        assert_eq!(package.roots, ["xtask/src/lib.rs", "xtask/src/main.rs"]);
        let serde_json =
            Dependency { name: "serde_json".into(), kind: DependencyKind::Normal, ours: false };
        assert!(package.dependencies.contains(&serde_json));
        let paths: Vec<&str> =
            workspace.sources.iter().map(|source| source.path.as_str()).collect();
        assert!(paths.contains(&"xtask/src/workspace.rs") && paths.is_sorted());
    }

    #[test]
    fn metadata_that_lacks_everything_is_no_panic() {
        let package = |json: &str| package(Path::new("/"), &serde_json::from_str(json).unwrap());
        assert!(package("{}").unwrap_err().contains("No such file"));
    }
}
