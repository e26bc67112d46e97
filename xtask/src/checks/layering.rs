// SPDX-License-Identifier: Apache-2.0
//! A crate depends on lower layers only, never on a sibling. A few crates are below all others.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::workspace::{Dependency, DependencyKind, Package, Workspace};

const RULE: &str = "layering";

/// The smallest server, and the crates that it must not depend on.
const SMALLEST_SERVER: &str = "pingserver";
const NOT_BELOW_IT: [&str; 4] = ["storage", "keyspace", "memcache", "resp"];
/// The crates that others of their own layer may use, since they depend on nothing.
const BOTTOM: [&str; 2] = ["crates/allocator", "crates/prefetch"];
/// The crate that the tests of any layer may use, and nothing but tests.
const TESTS_ONLY: &str = "crates/test-support";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        match package.layer {
            None => findings.push(at(
                package,
                "name",
                "declare the layer: `[package.metadata.shoebill] layer = N`".to_owned(),
            )),
            Some(layer) => findings.extend(
                package
                    .dependencies
                    .iter()
                    .filter(|dependency| dependency.ours)
                    .filter_map(|dependency| breach(workspace, package, layer, dependency)),
            ),
        }
    }
    findings.extend(bottom(workspace));
    findings.extend(smallest_server(workspace));
    findings
}

/// A crate below all others depends on no crate, of ours or others'.
fn bottom(workspace: &Workspace) -> Vec<Finding> {
    let bottoms =
        workspace.packages.iter().filter(|package| BOTTOM.contains(&package.folder.as_str()));
    let needs = |package: &Package| {
        let is_needed = |dependency: &&Dependency| dependency.kind != DependencyKind::Dev;
        let needed = package.dependencies.iter().filter(is_needed);
        let message = |other: &str| {
            let name = &package.name;
            format!("`{name}` must not depend on `{other}`: its own layer stands on it")
        };
        needed
            .map(|dependency| at(package, &dependency.name, message(&dependency.name)))
            .collect::<Vec<_>>()
    };
    bottoms.flat_map(needs).collect()
}

fn at(package: &Package, key: &str, message: String) -> Finding {
    Finding::error(&package.manifest_path(), package.manifest_line(key), RULE, message)
}

fn breach(
    workspace: &Workspace,
    package: &Package,
    layer: u64,
    dependency: &Dependency,
) -> Option<Finding> {
    let target = workspace.package(&dependency.name)?;
    // A target without a layer has a finding of its own.
    let below = target.layer?;
    let (name, other) = (&package.name, &target.name);
    if BOTTOM.contains(&target.folder.as_str()) && below == layer {
        return None;
    }
    let message = if is_server(package) && is_server(target) {
        format!("`{name}` must not depend on `{other}`: servers do not share code with each other")
    } else if dependency.kind == DependencyKind::Dev {
        if below <= layer || target.folder == TESTS_ONLY {
            return None;
        }
        format!(
            "tests of `{name}` (layer {layer}) must not need `{other}` (layer {below}); \
             move them to a crate of layer {below} or above"
        )
    } else if target.folder == TESTS_ONLY {
        format!("only tests may need `{other}`; make it a dev-dependency of `{name}`")
    } else if below >= layer {
        format!(
            "`{name}` (layer {layer}) must not depend on `{other}` (layer {below}); \
             depend on lower layers only"
        )
    } else {
        return None;
    };
    Some(at(package, other, message))
}

fn is_server(package: &Package) -> bool {
    package.folder.starts_with("servers/")
}

/// The smallest server is built without any storage and any other protocol.
fn smallest_server(workspace: &Workspace) -> Vec<Finding> {
    let Some(server) = workspace.package(SMALLEST_SERVER) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = vec![server];
    while let Some(package) = next.pop() {
        for dependency in &package.dependencies {
            let name = &dependency.name;
            if dependency.kind == DependencyKind::Dev || !seen.insert(name) {
                continue;
            }
            if name.split(['-', '_']).any(|part| NOT_BELOW_IT.contains(&part)) {
                let message = format!(
                    "`{SMALLEST_SERVER}` must not need `{name}`, and does through `{}`; remove one",
                    package.name
                );
                findings.push(at(package, name, message));
            }
            next.extend(workspace.package(name).filter(|_| dependency.ours));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{ours, package, shown};

    fn findings(packages: Vec<Package>) -> Vec<String> {
        shown(&check(&Workspace { packages, ..Workspace::default() }))
    }

    #[test]
    fn lower_layers_are_fine() {
        let mut session = package("crates/session", 1, &["buffer"]);
        session.dependencies.push(ours("protocol", DependencyKind::Dev));
        session
            .dependencies
            .push(Dependency { ours: false, ..ours("mio", DependencyKind::Normal) });
        let packages = vec![
            package("crates/buffer", 0, &[]),
            package("crates/protocol", 1, &["buffer"]),
            session,
            package("servers/pingserver", 5, &["session", "protocol"]),
        ];
        assert_eq!(findings(packages), [""; 0]);
    }

    #[test]
    fn siblings_and_higher_layers_are_not() {
        let mut clock = package("crates/clock", 0, &["session"]);
        clock.dependencies[0].kind = DependencyKind::Build;
        let packages =
            vec![package("crates/buffer", 0, &["clock"]), clock, package("crates/session", 1, &[])];
        assert_eq!(
            findings(packages),
            [
                "crates/buffer/Cargo.toml:4: layering: `buffer` (layer 0) must not depend on \
                 `clock` (layer 0); depend on lower layers only",
                "crates/clock/Cargo.toml:4: layering: `clock` (layer 0) must not depend on \
                 `session` (layer 1); depend on lower layers only",
            ]
        );
    }

    #[test]
    fn the_bottom_crate_may_be_used_by_its_own_layer_and_needs_nothing() {
        let packages = vec![
            package("crates/values", 0, &["prefetch"]),
            package("crates/prefetch", 0, &[]),
            package("crates/storage", 1, &["prefetch", "values"]),
        ];
        assert_eq!(findings(packages), [""; 0]);
        let packages =
            vec![package("crates/clock", 0, &[]), package("crates/prefetch", 1, &["clock"])];
        assert_eq!(
            findings(packages),
            ["crates/prefetch/Cargo.toml:4: layering: `prefetch` must not depend on `clock`: its \
              own layer stands on it"]
        );
    }

    #[test]
    fn tests_may_need_siblings_but_no_higher_layer() {
        let mut buffer = package("crates/buffer", 0, &["reactor", "clock"]);
        for dependency in &mut buffer.dependencies {
            dependency.kind = DependencyKind::Dev;
        }
        let packages =
            vec![buffer, package("crates/clock", 0, &[]), package("crates/reactor", 3, &[])];
        assert_eq!(
            findings(packages),
            ["crates/buffer/Cargo.toml:4: layering: tests of `buffer` (layer 0) must not need \
              `reactor` (layer 3); move them to a crate of layer 3 or above"]
        );
    }

    #[test]
    fn what_is_for_tests_only_is_for_those_of_all() {
        let mut buffer = package("crates/buffer", 0, &["test-support"]);
        buffer.dependencies[0].kind = DependencyKind::Dev;
        let packages = vec![
            buffer,
            package("crates/test-support", 5, &[]),
            package("benches", 10, &["test-support"]),
        ];
        assert_eq!(
            findings(packages),
            ["benches/Cargo.toml:4: layering: only tests may need `test-support`; make it a \
              dev-dependency of `benches`"]
        );
    }

    #[test]
    fn a_layer_must_be_declared() {
        let undeclared = Package { layer: None, ..package("crates/buffer", 0, &[]) };
        assert_eq!(
            findings(vec![undeclared]),
            ["crates/buffer/Cargo.toml:2: layering: declare the layer: \
              `[package.metadata.shoebill] layer = N`"]
        );
    }

    #[test]
    fn servers_are_apart() {
        let packages =
            vec![package("servers/rds", 6, &["segcache"]), package("servers/segcache", 5, &[])];
        assert_eq!(
            findings(packages),
            ["servers/rds/Cargo.toml:4: layering: `rds` must not depend on `segcache`: \
              servers do not share code with each other"]
        );
    }

    #[test]
    fn the_smallest_server_has_no_storage_below_it() {
        let mut server = package("crates/server", 4, &["storage-seg", "metrics"]);
        server
            .dependencies
            .push(Dependency { ours: false, ..ours("memcache", DependencyKind::Normal) });
        server.dependencies.push(ours("protocol-resp", DependencyKind::Dev));
        let packages = vec![
            package("servers/pingserver", 5, &["server"]),
            server,
            package("crates/storage-seg", 2, &[]),
            package("crates/metrics", 0, &[]),
        ];
        assert_eq!(
            findings(packages),
            [
                "crates/server/Cargo.toml:4: layering: `pingserver` must not need `storage-seg`, \
                 and does through `server`; remove one",
                "crates/server/Cargo.toml:1: layering: `pingserver` must not need `memcache`, \
                 and does through `server`; remove one",
            ]
        );
    }
}
