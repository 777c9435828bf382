//! The parts of a tree that are no program: stretches a grammar could not read, and rows of signs that
//! no rule explains.

use tree_sitter::{Node, Tree};

use crate::{Gap, tree::span};

/// Stretches that could not be parsed and are told; a broken file has thousands.
const MOST_GAPS: usize = 50;

/// Signs side by side in one node, nothing with a name between them. The time of a query grows
/// with the square of that, and no program has a thousand commas or brackets in a row.
const MOST_LOOSE: u32 = 4096;

/// The stretches that the grammar could not read.
pub(crate) fn gaps(tree: &Tree) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    each_fault(tree.root_node(), &mut |node| {
        let (span, why) = if node.is_missing() {
            (span(node), "something is missing here")
        } else {
            (span(node), "this could not be parsed")
        };
        gaps.push(Gap { span, why });
        gaps.len() < MOST_GAPS
    });
    gaps
}

/// True if there are too many signs in a row somewhere. Only nodes long enough to have them are
/// looked into.
pub(crate) fn is_loose(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.byte_range().len() > MOST_LOOSE as usize {
            if node.child_count() > MOST_LOOSE && has_loose_run(node) {
                return true;
            }
            if cursor.goto_first_child() {
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

fn has_loose_run(node: Node<'_>) -> bool {
    let mut run = 0;
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    while more {
        run = if cursor.node().is_named() { 0 } else { run + 1 };
        if run > MOST_LOOSE {
            return true;
        }
        more = cursor.goto_next_sibling();
    }
    false
}

/// Visits the nodes that stand for errors, outermost only, until `visit` says no more.
pub(crate) fn each_fault<'t>(root: Node<'t>, visit: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let fault = node.is_error() || node.is_missing();
        if fault && !visit(node) {
            return;
        }
        if !fault && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
