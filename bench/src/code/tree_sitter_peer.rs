//! tree-sitter's C library as a peer: a whole parse, then a walk for definitions. Definitions in the
//! bodies of C functions are skipped, as no outline has them.

use anyhow::{Context, Result};
use tree_sitter::{Language, Node, Parser, Tree};

use super::corpora::Tongue;

pub(crate) const VERSION: &str = "0.27.1";

/// A definition as the peers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The plain name, without blanks.
    pub(crate) name: String,
    /// The line of the name, from 1.
    pub(crate) line: usize,
    /// The last line.
    pub(crate) last: Option<usize>,
}

pub(crate) fn parser(tongue: Tongue) -> Result<Parser> {
    let language: Language = match tongue {
        Tongue::Python => tree_sitter_python::LANGUAGE.into(),
        Tongue::C => tree_sitter_c::LANGUAGE.into(),
        Tongue::Cpp => tree_sitter_cpp::LANGUAGE.into(),
    };
    let mut parser = Parser::new();
    parser.set_language(&language)?;
    Ok(parser)
}

pub(crate) fn parse(parser: &mut Parser, text: &str) -> Result<Tree> {
    parser.parse(text, None).context("tree-sitter gave no tree")
}

/// The number of definitions in a tree, the least that an outline needs.
pub(crate) fn count(tree: &Tree) -> usize {
    let mut found = 0;
    each(tree, |_| found += 1);
    found
}

/// The definitions of a tree.
pub(crate) fn definitions(tree: &Tree, text: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    each(tree, |node| {
        let Some(name) = name(node) else { return };
        let spelled = text.get(name.byte_range()).unwrap_or_default();
        found.push(Definition {
            name: plain(spelled),
            line: name.start_position().row + 1,
            last: Some(node.end_position().row + 1),
        });
    });
    found
}

/// A name without blanks, arguments of templates or parameters.
pub(crate) fn plain(name: &str) -> String {
    let name: String = name.split_whitespace().collect();
    match name.strip_prefix("operator") {
        Some(symbol) if !symbol.starts_with(|c: char| c.is_alphanumeric() || c == '_') => name,
        Some(_) => name.split('(').next().unwrap_or_default().to_owned(),
        None => name.split('<').next().unwrap_or_default().to_owned(),
    }
}

fn each<'t>(tree: &'t Tree, mut found: impl FnMut(Node<'t>)) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let (defines, holds) = judge(node);
        if defines {
            found(node);
        }
        if holds && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// True if a node is a definition, and true if it can contain others.
fn judge(node: Node<'_>) -> (bool, bool) {
    let has_body = || node.child_by_field_name("body").is_some();
    match node.kind() {
        // `= default` and `= delete` have no body.
        "function_definition" => {
            (!node.child(node.child_count().saturating_sub(1)).is_some_and(is_clause), true)
        }
        "class_definition" => (true, true),
        "class_specifier"
        | "struct_specifier"
        | "union_specifier"
        | "enum_specifier"
        | "namespace_definition" => (has_body(), true),
        "compound_statement" | "expression_statement" | "parameters" | "parameter_list" | "argument_list" => {
            (false, false)
        }
        _ => (false, true),
    }
}

fn is_clause(node: Node<'_>) -> bool {
    node.kind().ends_with("_method_clause") || node.kind() == "pure_virtual_clause"
}

/// The name of a definition: that of a type, or the innermost one of a declarator.
fn name(definition: Node<'_>) -> Option<Node<'_>> {
    let mut node =
        definition.child_by_field_name("name").or_else(|| definition.child_by_field_name("declarator"))?;
    loop {
        let inner = match node.kind() {
            "qualified_identifier" | "template_function" | "template_type" | "template_method" => {
                node.child_by_field_name("name")
            }
            "nested_namespace_specifier" => node.named_child(node.named_child_count().checked_sub(1)? as u32),
            "operator_cast" => return Some(node),
            kind if kind.ends_with("declarator") => {
                node.child_by_field_name("declarator").or_else(|| node.named_child(0))
            }
            _ => return Some(node),
        };
        node = inner?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tongue: Tongue, text: &str, expect: &[(&str, usize, usize)]) {
        let tree = parse(&mut parser(tongue).expect("a grammar"), text).expect("a tree");
        let found = definitions(&tree, text);
        let found: Vec<_> =
            found.iter().map(|found| (found.name.as_str(), found.line, found.last.unwrap_or(0))).collect();
        assert_eq!(found, expect);
        assert_eq!(count(&tree), expect.len());
    }

    #[test]
    fn definitions_are_found_with_their_lines() {
        check(Tongue::Python, "class A:\n  def f(self):\n    pass\n", &[("A", 1, 3), ("f", 2, 3)]);
        check(Tongue::C, "static int\nf(void)\n{\n}\nstruct s { int a; };\n", &[("f", 2, 4), ("s", 5, 5)]);
        check(
            Tongue::Cpp,
            "namespace a::b {\ntemplate <class T> int A<T>::f() {\n}\nA::~A() {}\n}\n",
            &[("b", 1, 5), ("f", 2, 3), ("~A", 4, 4)],
        );
    }
}
