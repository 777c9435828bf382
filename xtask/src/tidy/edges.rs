//! Libraries that only some crates may use, so that what a crate never does stays visible in its
//! manifest. Tests may use any.

use super::violation::Violation;
use crate::checkout::{Kind, Package};

struct Edge {
    libraries: &'static [&'static str],
    crates: Crates,
    remedy: &'static str,
}

enum Crates {
    Only(&'static [&'static str]),
    Never(&'static [&'static str]),
}

const EDGES: &[Edge] = &[
    Edge {
        libraries: &["rmcp"],
        crates: Crates::Only(&["tectum-peers"]),
        remedy: "MCP stops in tectum-peers: translate to tectum-core's types there.",
    },
    Edge {
        libraries: &["tokio", "serde_json", "toml", "tracing"],
        crates: Crates::Never(&["tectum-security"]),
        remedy: "tectum-security is paths in, capabilities out: leave waiting, formats and logs to its callers.",
    },
    Edge {
        libraries: &["axum", "hyper"],
        crates: Crates::Never(&["tectum-core", "tectum-tools", "tectum-engine"]),
        remedy: "tectum-core, tectum-tools and tectum-engine serve nobody: move the user of it to tectum-peers or tectum.",
    },
    Edge {
        libraries: &["reqwest"],
        crates: Crates::Only(&[
            "tectum-peers",
            "tectum-engine",
            "tectum-web",
            "tectum-telemetry",
            "tectum-bench",
        ]),
        remedy: "Other machines are reached from tectum-peers (servers), tectum-engine (models), tectum-web (pages) and tectum-telemetry (a collector).",
    },
    Edge {
        libraries: &["tree-sitter"],
        // The bench measures it as a peer.
        crates: Crates::Only(&["tectum-syntax", "tectum-bench"]),
        remedy: "Languages live in tectum-syntax, as packs: ask it for facts.",
    },
    Edge {
        libraries: &["ruff_python_parser"],
        crates: Crates::Only(&["tectum-syntax"]),
        remedy: "Languages live in tectum-syntax, as packs: ask it for facts.",
    },
    Edge {
        libraries: &["anyhow"],
        crates: Crates::Only(&["tectum", "xtask", "tectum-bench"]),
        remedy: "A library says what went wrong in a type: write a thiserror enum and turn it into a Fault.",
    },
];

pub fn judge(packages: &[Package]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in packages {
        let normal = package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Normal);
        for dependency in normal {
            let forbidden = EDGES.iter().filter(|edge| edge.forbids(&package.name, &dependency.name));
            violations.extend(forbidden.map(|edge| Violation {
                place: package.manifest.clone(),
                wrong: format!("`{}` may not depend on `{}`.", package.name, dependency.name),
                remedy: edge.remedy.to_owned(),
            }));
        }
    }
    violations
}

impl Edge {
    fn forbids(&self, package: &str, library: &str) -> bool {
        let crate_is_refused = match self.crates {
            Crates::Only(crates) => !crates.contains(&package),
            Crates::Never(crates) => crates.contains(&package),
        };
        crate_is_refused && self.libraries.contains(&library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::package;

    #[track_caller]
    fn check(from: &str, library: &str, kind: Kind, expect: usize) {
        let violations = judge(&[package(from, &[(library, kind)])]);
        assert_eq!(violations.len(), expect, "{from} -> {library}: {violations:?}");
    }

    #[test]
    fn mcp_stops_in_peers() {
        check("tectum-peers", "rmcp", Kind::Normal, 0);
        check("tectum", "rmcp", Kind::Normal, 1);
        check("tectum-core", "rmcp", Kind::Normal, 1);
        check("tectum-tools", "rmcp", Kind::Normal, 1);
    }

    #[test]
    fn security_stays_small() {
        check("tectum-security", "rustix", Kind::Normal, 0);
        for library in ["tokio", "serde_json", "toml", "tracing"] {
            check("tectum-security", library, Kind::Normal, 1);
            check("tectum-core", library, Kind::Normal, 0);
        }
    }

    #[test]
    fn core_and_tools_serve_nothing() {
        for library in ["axum", "hyper"] {
            check("tectum-core", library, Kind::Normal, 1);
            check("tectum-tools", library, Kind::Normal, 1);
            check("tectum-engine", library, Kind::Normal, 1);
            check("tectum-peers", library, Kind::Normal, 0);
        }
    }

    #[test]
    fn three_crates_reach_other_machines() {
        check("tectum-engine", "reqwest", Kind::Normal, 0);
        check("tectum-web", "reqwest", Kind::Normal, 0);
        check("tectum-tools", "reqwest", Kind::Normal, 1);
        check("tectum-core", "reqwest", Kind::Normal, 1);
        check("tectum", "reqwest", Kind::Normal, 1);
    }

    #[test]
    fn languages_live_in_syntax() {
        check("tectum-tools", "tree-sitter", Kind::Normal, 1);
        check("tectum-syntax", "tree-sitter", Kind::Normal, 0);
        check("tectum-core", "ruff_python_parser", Kind::Normal, 1);
    }

    #[test]
    fn anyhow_is_for_programs() {
        for program in ["tectum", "xtask", "tectum-bench"] {
            check(program, "anyhow", Kind::Normal, 0);
        }
        check("tectum-peers", "anyhow", Kind::Normal, 1);
    }

    #[test]
    fn tests_may_use_what_they_like() {
        check("tectum-core", "anyhow", Kind::Dev, 0);
        check("tectum-security", "serde_json", Kind::Dev, 0);
    }
}
