//! A type name is unique within its crate, so that a search for it finds one thing.

use std::collections::BTreeMap;

use super::crate_tree::{CrateTree, TypeName};
use super::violation::Violation;

/// Names that recur by convention: the arguments and the output of a tool.
const BY_CONVENTION: [&str; 2] = ["Args", "Output"];

pub fn judge(crates: &[CrateTree]) -> Vec<Violation> {
    crates.iter().flat_map(judge_one).collect()
}

fn judge_one(tree: &CrateTree) -> Vec<Violation> {
    let mut by_name: BTreeMap<&str, Vec<&TypeName>> = BTreeMap::new();
    for declared in tree.types().filter(|declared| !BY_CONVENTION.contains(&declared.name.as_str())) {
        by_name.entry(&declared.name).or_default().push(declared);
    }
    by_name.into_values().filter_map(|same| violation(&same)).collect()
}

fn violation(same: &[&TypeName]) -> Option<Violation> {
    let (first, others) = same.split_first()?;
    let places: Vec<String> = others.iter().map(|other| format!("{}:{}", other.file, other.line)).collect();
    (!places.is_empty()).then(|| Violation {
        place: format!("{}:{}", first.file, first.line),
        wrong: format!("another type is called `{}`: {}.", first.name, places.join(", ")),
        remedy: "Name each for what it is.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{package, places, source};

    #[track_caller]
    fn check(lib: &str, expect: &[&str]) {
        let sources = [source("crates/a/src/lib.rs", lib)];
        assert_eq!(places(&judge(&CrateTree::of_package(&package("a", &[]), &sources))), expect);
    }

    #[test]
    fn a_name_stands_once() {
        check("struct A;\nmod m {\n    enum A {}\n}", &["crates/a/src/lib.rs:1"]);
        check("fn f() { struct A; }\nfn g() { type A = u8; }", &["crates/a/src/lib.rs:1"]);
        check("struct A; struct B;", &[]);
    }

    #[test]
    fn conventions_and_tests_are_not_counted() {
        check("mod a { struct Args; struct Output; }\nmod b { struct Args; struct Output; }", &[]);
        check("struct A;\n#[cfg(test)]\nmod tests { struct A; }", &[]);
    }
}
