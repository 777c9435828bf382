//! The imports of a tree's file, by a pack's `imports` query. Knows captures, never a grammar's nodes.

use std::cmp::Reverse;

use tree_sitter::{Query, QueryMatch, Tree};

use crate::{Import, Span, references::each_match, tree::span};

/// Everything imported, in the order of the text.
pub(crate) fn find(query: Option<&Query>, tree: &Tree, text: &str, separator: &str) -> Vec<Import> {
    let (mut leaves, mut groups) = (Vec::new(), Vec::new());
    each_match(query, tree, text, Span::new(0, text.len()), |query, found| {
        let leaf = Leaf::read(query, found, text);
        match leaf.group {
            Some(group) => groups.push((group, leaf.prefix)),
            None => leaves.push(leaf),
        }
    });
    leaves.sort_by_key(|leaf| (leaf.first, Reverse(leaf.statement.map(|statement| statement.end))));
    groups.sort_by_key(|(group, _)| (group.start, Reverse(group.end)));
    // Both are read side by side: what is open holds the leaf.
    let (mut open, mut groups) = (Vec::<(Span, String)>::new(), groups.into_iter().peekable());
    let mut statement: Option<Span> = None;
    let mut imports = Vec::new();
    for leaf in leaves {
        while let Some(group) = groups.next_if(|(group, _)| group.start <= leaf.first.start) {
            close(&mut open, group.0.start);
            open.push(group);
        }
        close(&mut open, leaf.first.start);
        // A statement may be captured on its own, before the names in it.
        if let Some(own) = leaf.statement {
            statement = Some(own);
        }
        let Some(statement) = statement.filter(|around| around.holds(leaf.first)) else { continue };
        let prefixes = open.iter().map(|(_, prefix)| prefix.as_str()).filter(|prefix| !prefix.is_empty());
        let import = leaf.import(statement, prefixes.collect(), separator);
        imports.extend(import.map(|import| (leaf.at, import)));
    }
    imports.sort_by_key(|(at, import)| (import.span, *at));
    let mut imports: Vec<Import> = imports.into_iter().map(|(_, import)| import).collect();
    imports.dedup();
    imports
}

fn close(open: &mut Vec<(Span, String)>, offset: u32) {
    while open.pop_if(|(group, _)| group.end <= offset).is_some() {}
}

/// The captures of one match.
#[derive(Default)]
struct Leaf {
    /// The place of its first capture; later ones lie in it or after it.
    first: Span,
    /// The place of the name, or else of the module; it orders the names of one statement.
    at: u32,
    statement: Option<Span>,
    /// Everything in here is taken from below `prefix`.
    group: Option<Span>,
    prefix: String,
    module: Option<String>,
    name: Option<String>,
    alias: Option<String>,
    /// The module is taken under the last part of its own name.
    bare: bool,
}

impl Leaf {
    fn read(query: &Query, found: &QueryMatch<'_, '_>, text: &str) -> Self {
        let mut leaf = Self::default();
        let (mut first, mut name_at): (Option<Span>, Option<u32>) = (None, None);
        for capture in found.captures() {
            let place = span(capture.node);
            let capture = query.capture_names()[capture.index as usize];
            let written = || place.slice(text).trim_matches(['"', '\'', '`']).to_owned();
            match capture {
                "import" => leaf.statement = Some(place),
                "group" => leaf.group = Some(place),
                "prefix" => leaf.prefix = written(),
                "module" => leaf.module = Some(written()),
                "name" => leaf.name = Some(written()),
                "alias" => leaf.alias = Some(written()),
                "all" => leaf.name = Some("*".to_owned()),
                "default" => (leaf.name, leaf.alias) = (Some("default".to_owned()), Some(written())),
                "bare" => leaf.bare = true,
                _ => continue,
            }
            match capture {
                "name" | "alias" | "all" | "default" => name_at = name_at.or(Some(place.start)),
                "module" | "bare" => leaf.at = place.start,
                _ => {}
            }
            if first.is_none_or(|first| place.start < first.start) {
                first = Some(place);
            }
        }
        leaf.first = first.unwrap_or_default();
        leaf.at = name_at.unwrap_or(leaf.at);
        leaf
    }

    fn import<'p>(&'p self, statement: Span, mut parts: Vec<&'p str>, separator: &str) -> Option<Import> {
        if self.module.is_none() && self.name.is_none() && self.alias.is_none() && !self.bare {
            return None;
        }
        parts.extend(self.module.as_deref());
        let (mut module, mut name, mut bare) = (parts.join(separator), self.name.clone(), self.bare);
        if module.is_empty() {
            // Nothing was said of where the name is from: it is a module of its own.
            module = name.take()?;
            bare = true;
        }
        let local = self
            .alias
            .clone()
            .or_else(|| name.clone())
            .or_else(|| bare.then(|| last_part(&module).to_owned()));
        let local = local.filter(|local| local != "*" && local != "_");
        Some(Import { span: statement, module, name, local })
    }
}

/// The name a module has when it is taken whole: the last part of its own. The version that
/// ends many paths, `net/mail/v2`, is no part of the name.
fn last_part(module: &str) -> &str {
    let mut parts = module.rsplit(['/', '.', ':']).filter(|part| !part.is_empty());
    let last = parts.next().unwrap_or(module);
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if module.contains('/') && is_version(last) { parts.next().unwrap_or(last) } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_known_by_its_last_part_without_version() {
        for (module, expect) in [
            ("fmt", "fmt"),
            ("std::fmt", "fmt"),
            ("a.b.C", "C"),
            ("net/http", "http"),
            ("host.org/mail/v2", "mail"),
            ("host.org/yaml.v3", "yaml"),
            ("api::v1", "v1"),
            ("./", "./"),
            ("", ""),
        ] {
            assert_eq!(last_part(module), expect, "{module}");
        }
    }
}
