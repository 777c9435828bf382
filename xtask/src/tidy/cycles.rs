//! Dependencies of modules in a crate have one direction: no cycle between its files or its top modules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::crate_tree::{CrateTree, ModuleNeed};
use super::violation::Violation;

pub fn judge(crates: &[CrateTree]) -> Vec<Violation> {
    crates.iter().flat_map(judge_one).collect()
}

fn judge_one(tree: &CrateTree) -> Vec<Violation> {
    let edges = tree.needs();
    let mut files = Graph::default();
    let mut modules = Graph::default();
    for edge in &edges {
        files.add(&edge.from, &edge.to, edge);
        if let Some((from, to)) = &edge.modules {
            modules.add(from, to, edge);
        }
    }
    let remedy = "Move what both need to a file below them.";
    let violation = |circle: Vec<&ModuleNeed>| Violation {
        place: format!("{}:{}", circle[0].from, circle[0].line),
        wrong: format!("a circle: {}.", shown(&circle)),
        remedy: remedy.to_owned(),
    };
    let mut violations: Vec<Violation> = files.circles().into_iter().map(violation).collect();
    // A cycle of modules that is also one of files is reported once.
    for circle in modules.circles().into_iter().map(violation) {
        if !violations.contains(&circle) {
            violations.push(circle);
        }
    }
    violations
}

fn shown(circle: &[&ModuleNeed]) -> String {
    let steps: Vec<String> =
        circle.iter().map(|edge| format!("{}:{} uses {}", edge.from, edge.line, edge.to)).collect();
    steps.join(", ")
}

#[derive(Default)]
struct Graph<'e> {
    edges: BTreeMap<String, BTreeMap<String, &'e ModuleNeed>>,
}

impl<'e> Graph<'e> {
    fn add(&mut self, from: &str, to: &str, edge: &'e ModuleNeed) {
        if from != to {
            self.edges.entry(from.to_owned()).or_default().entry(to.to_owned()).or_insert(edge);
        }
    }

    /// The shortest cycle of each group of nodes that depend on each other.
    fn circles(&self) -> Vec<Vec<&'e ModuleNeed>> {
        let mut circles: Vec<Vec<&ModuleNeed>> = Vec::new();
        let mut told: BTreeSet<&str> = BTreeSet::new();
        let mut found: Vec<(Vec<&str>, Vec<&'e ModuleNeed>)> =
            self.edges.keys().filter_map(|start| self.way_back(start)).collect();
        found.sort_by_key(|(nodes, _)| nodes.len());
        for (nodes, circle) in found {
            if nodes.iter().all(|node| !told.contains(node)) {
                circles.push(circle);
            }
            told.extend(nodes);
        }
        circles
    }

    /// The shortest path from a node back to itself, with the nodes on it.
    fn way_back(&self, start: &str) -> Option<(Vec<&str>, Vec<&'e ModuleNeed>)> {
        let mut came_from: BTreeMap<&str, (&str, &'e ModuleNeed)> = BTreeMap::new();
        let mut queue = VecDeque::from([self.edges.get_key_value(start)?.0.as_str()]);
        while let Some(node) = queue.pop_front() {
            for (next, edge) in self.edges.get(node).into_iter().flatten() {
                if came_from.contains_key(next.as_str()) {
                    continue;
                }
                came_from.insert(next, (node, edge));
                if next == start {
                    return Some(trace(&came_from, next));
                }
                queue.push_back(next);
            }
        }
        None
    }
}

fn trace<'a, 'e>(
    came_from: &BTreeMap<&'a str, (&'a str, &'e ModuleNeed)>,
    start: &'a str,
) -> (Vec<&'a str>, Vec<&'e ModuleNeed>) {
    let (mut nodes, mut edges, mut node) = (Vec::new(), Vec::new(), start);
    while let Some(&(before, edge)) = came_from.get(node) {
        nodes.push(before);
        edges.push(edge);
        node = before;
        if node == start {
            break;
        }
    }
    edges.reverse();
    (nodes, edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{package, places, source};

    #[track_caller]
    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let sources: Vec<_> =
            files.iter().map(|(path, text)| source(&format!("crates/a/src/{path}"), text)).collect();
        let crates = CrateTree::of_package(&package("a", &[]), &sources);
        let found = judge(&crates);
        let expect: Vec<String> = expect.iter().map(|place| format!("crates/a/src/{place}")).collect();
        assert_eq!(places(&found), expect, "{found:?}");
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let a = ("m/a.rs", "use super::b::B;\npub struct A(B);");
        let module = ("m/mod.rs", "mod a; mod b;");
        let lib = ("lib.rs", "mod m;");
        check(&[lib, module, a, ("m/b.rs", "\npub fn f(_: super::a::A) {}\npub struct B;")], &["m/a.rs:1"]);
        check(&[lib, module, a, ("m/b.rs", "pub struct B;")], &[]);
    }

    #[test]
    fn a_name_counts_for_the_file_that_declares_it() {
        // The parent re-exports `A` and uses nothing; a neighbour imports it from there.
        let files = [
            ("lib.rs", "mod m; mod n; pub use m::A;"),
            ("m.rs", "mod a; pub use a::A;"),
            ("m/a.rs", "pub struct A;"),
            ("n.rs", "use crate::A;"),
        ];
        check(&files, &[]);
    }

    #[test]
    fn a_parent_that_uses_its_child_and_is_used_by_it_is_a_circle() {
        let lib = ("lib.rs", "mod m;");
        let parent = ("m.rs", "mod a; pub struct P; fn f() { a::g() }");
        check(&[lib, parent, ("m/a.rs", "use super::P; pub fn g() {}")], &["m.rs:1"]);
    }

    #[test]
    fn top_modules_are_judged_as_wholes() {
        let files = [
            ("lib.rs", "mod m; mod n;"),
            ("m/mod.rs", "mod x; mod y;"),
            ("m/x.rs", "use crate::n::w::W;"),
            ("m/y.rs", "pub struct Y;"),
            ("n/mod.rs", "pub mod v; pub mod w;"),
            ("n/v.rs", "type V = Vec<crate::m::y::Y>;"),
            ("n/w.rs", "pub struct W;"),
        ];
        check(&files, &["m/x.rs:1"]);
    }

    #[test]
    fn tests_and_what_macros_are_given() {
        let lib = ("lib.rs", "mod a; mod b;");
        let b = ("b.rs", "pub fn g() { println!(\"{}\", crate::a::f()) }");
        check(&[lib, b, ("a.rs", "pub fn f() {}\n#[cfg(test)]\nmod tests { use crate::b::g; }")], &[]);
        check(&[lib, b, ("a.rs", "pub fn f() { crate::b::g() }")], &["a.rs:1"]);
    }
}
