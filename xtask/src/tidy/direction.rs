//! Dependencies between our crates point down, never sideways and never up.

use super::violation::Violation;
use crate::checkout::{Dependency, Kind, Package};

/// Each crate of the workspace and those of our crates that it may depend on. None may depend on
/// `tectum`, `tectum-bench` or `xtask`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("tectum-attention", &[]),
    ("tectum-security", &[]),
    ("tectum-redact", &[]),
    ("tectum-state", &[]),
    ("tectum-syntax", &[]),
    ("tectum-child", &["tectum-redact", "tectum-state"]),
    ("tectum-lsp", &["tectum-child"]),
    ("tectum-shell", &["tectum-child", "tectum-state"]),
    ("tectum-web", &[]),
    ("tectum-core", &["tectum-security"]),
    ("tectum-approval", &["tectum-core"]),
    ("tectum-journal", &["tectum-core", "tectum-redact", "tectum-state"]),
    ("tectum-attend", &["tectum-attention"]),
    ("tectum-native", &["tectum-core"]),
    ("tectum-turns", &["tectum-core"]),
    (
        "tectum-tools",
        &[
            "tectum-attend",
            "tectum-attention",
            "tectum-core",
            "tectum-journal",
            "tectum-native",
            "tectum-security",
            "tectum-state",
            "tectum-syntax",
            "tectum-lsp",
            "tectum-child",
            "tectum-shell",
            "tectum-web",
        ],
    ),
    (
        "tectum-peers",
        &[
            "tectum-core",
            "tectum-security",
            "tectum-native",
            "tectum-approval",
            "tectum-attend",
            "tectum-turns",
            "tectum-redact",
            "tectum-state",
            "tectum-child",
        ],
    ),
    ("tectum-telemetry", &["tectum-core", "tectum-peers", "tectum-redact"]),
    // Its tests define their own tools.
    ("tectum-engine", &["tectum-core", "tectum-turns", "tectum-native"]),
    ("tectum-tracks", &["tectum-core", "tectum-engine", "tectum-state", "tectum-turns"]),
    ("tectum", EVERY_LIBRARY),
    ("tectum-bench", EVERY_LIBRARY),
    ("xtask", &[]),
];

const EVERY_LIBRARY: &[&str] = &[
    "tectum-attention",
    "tectum-security",
    "tectum-redact",
    "tectum-state",
    "tectum-syntax",
    "tectum-child",
    "tectum-lsp",
    "tectum-shell",
    "tectum-web",
    "tectum-core",
    "tectum-approval",
    "tectum-attend",
    "tectum-journal",
    "tectum-native",
    "tectum-turns",
    "tectum-tools",
    "tectum-peers",
    "tectum-engine",
    "tectum-tracks",
    "tectum-telemetry",
];

pub fn judge(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(|package| judge_one(package, packages)).collect()
}

fn judge_one(package: &Package, packages: &[Package]) -> Vec<Violation> {
    let Some((name, may_use)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
        return vec![Violation {
            place: package.manifest.clone(),
            wrong: format!("`{}` has no place among the crates yet.", package.name),
            remedy: "Give it a line in MAY_USE of xtask/src/tidy/direction.rs.".to_owned(),
        }];
    };
    let is_ours = |dependency: &&Dependency| packages.iter().any(|other| other.name == dependency.name);
    // The binary's own tests may use anything.
    let is_exempt = |dependency: &Dependency| *name == "tectum" && dependency.kind == Kind::Dev;
    let wrong = package
        .dependencies
        .iter()
        .filter(is_ours)
        .filter(|dependency| !may_use.contains(&dependency.name.as_str()) && !is_exempt(dependency));
    wrong
        .map(|dependency| Violation {
            place: package.manifest.clone(),
            wrong: format!("`{name}` depends on `{}`, which is not below it.", dependency.name),
            remedy: match may_use {
                [] => "It stands on no crate of ours: move what both need down into it.".to_owned(),
                _ => format!("It may use {}: move what both need down into one of them.", list(may_use)),
            },
        })
        .collect()
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{package, places};

    fn others() -> Vec<Package> {
        let names = [
            "tectum-security",
            "tectum-core",
            "tectum-tools",
            "tectum-peers",
            "tectum-engine",
            "tectum",
            "xtask",
        ];
        names.iter().map(|name| package(name, &[])).collect()
    }

    #[track_caller]
    fn check(from: &str, to: &str, kind: Kind, expect: usize) {
        let mut packages = others();
        packages.retain(|package| package.name != from);
        packages.push(package(from, &[(to, kind)]));
        assert_eq!(judge(&packages).len(), expect, "{from} -> {to}");
    }

    #[test]
    fn down_is_fine() {
        check("tectum-core", "tectum-security", Kind::Normal, 0);
        check("tectum-tools", "tectum-core", Kind::Normal, 0);
        check("tectum-tools", "tectum-security", Kind::Normal, 0);
        check("tectum-peers", "tectum-core", Kind::Normal, 0);
        check("tectum-engine", "tectum-core", Kind::Normal, 0);
        check("tectum", "tectum-peers", Kind::Normal, 0);
        check("tectum-bench", "tectum-core", Kind::Normal, 0);
    }

    #[test]
    fn up_and_sideways_are_not() {
        check("tectum-security", "tectum-core", Kind::Normal, 1);
        check("tectum-core", "tectum-tools", Kind::Normal, 1);
        check("tectum-tools", "tectum-peers", Kind::Normal, 1);
        check("tectum-peers", "tectum-tools", Kind::Build, 1);
        check("tectum-engine", "tectum-peers", Kind::Normal, 1);
        check("tectum-peers", "tectum-engine", Kind::Normal, 1);
        check("tectum-bench", "tectum", Kind::Normal, 1);
        check("xtask", "tectum-core", Kind::Normal, 1);
        check("tectum", "xtask", Kind::Normal, 1);
    }

    #[test]
    fn only_the_binary_may_test_with_anything() {
        check("tectum", "xtask", Kind::Dev, 0);
        check("tectum-tools", "tectum-peers", Kind::Dev, 1);
    }

    #[test]
    fn the_registry_is_not_our_concern_here() {
        check("tectum-security", "rustix", Kind::Normal, 0);
    }

    #[test]
    fn a_crate_without_a_place_is_named() {
        assert_eq!(places(&judge(&[package("tectum-cellar", &[])])), ["crates/tectum-cellar/Cargo.toml"]);
    }
}
