//! Decides which outline of a C or C++ file is right if they differ: ours, ctags' and tree-sitter's.
//! Two that agree outvote the third; a definition in only one is classified by the text at its place.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::tree_sitter_peer::Definition;

/// A name and its line.
pub(super) type Key = (String, usize);

/// The three outlines of one file.
pub(super) struct Views<'f> {
    pub(super) text: &'f str,
    pub(super) ours: HashMap<Key, usize>,
    pub(super) tags: HashMap<Key, Option<usize>>,
    pub(super) tree: HashMap<Key, usize>,
    /// The typedefs of unnamed types.
    pub(super) typedefs: HashSet<Key>,
}

/// Counts over many files.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) files: usize,
    pub(super) ours: usize,
    /// Of ctags' definitions: all, those we have, those with an end, and with our end.
    pub(super) tags: [usize; 4],
    /// The same of tree-sitter's.
    pub(super) tree: [usize; 4],
    /// Our definitions that ctags has, as a definition or as the typedef of an unnamed type.
    pub(super) known: usize,
    /// Definitions in at least two of the three, and those of them that we have with the end of another.
    pub(super) judged: [usize; 2],
    pub(super) reasons: BTreeMap<&'static str, usize>,
}

/// One difference, for people to read.
pub(super) struct Difference {
    pub(super) why: &'static str,
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) ends: String,
}

impl Tally {
    /// Adds one file and returns where the views differ.
    pub(super) fn add(&mut self, views: &Views<'_>) -> Vec<Difference> {
        self.files += 1;
        self.ours += views.ours.len();
        let known = |key: &&Key| views.tags.contains_key(*key) || views.typedefs.contains(*key);
        self.known += views.ours.keys().filter(known).count();
        let with_ends =
            |all: &HashMap<Key, usize>| all.iter().map(|(key, last)| (key.clone(), Some(*last))).collect();
        count(&mut self.tags, &views.tags, &views.ours);
        count(&mut self.tree, &with_ends(&views.tree), &views.ours);
        let mut keys: Vec<&Key> =
            views.ours.keys().chain(views.tags.keys()).chain(views.tree.keys()).collect();
        keys.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        keys.dedup();
        let later = later_branches(views.text);
        let mut differences = Vec::new();
        for key in keys {
            let (ours, tags, tree) = (views.ours.get(key), views.tags.get(key), views.tree.get(key));
            let voices = [ours.is_some(), tags.is_some(), tree.is_some()];
            if voices.iter().filter(|has| **has).count() >= 2 {
                self.judged[0] += 1;
                let others = [tags.copied().flatten(), tree.copied()];
                let silent = others.iter().all(Option::is_none);
                let right = ours.is_some_and(|last| silent || others.contains(&Some(*last)));
                self.judged[1] += usize::from(right);
            }
            let Some(why) = views.reason(key, later.get(key.1 - 1).copied().unwrap_or(false)) else {
                continue;
            };
            *self.reasons.entry(why).or_default() += 1;
            let ends = format!("ours {ours:?}, ctags {tags:?}, tree-sitter {tree:?}");
            differences.push(Difference { why, name: key.0.clone(), line: key.1, ends });
        }
        differences
    }
}

fn count(counts: &mut [usize; 4], theirs: &HashMap<Key, Option<usize>>, ours: &HashMap<Key, usize>) {
    for (key, end) in theirs {
        let own = ours.get(key);
        counts[0] += 1;
        counts[1] += usize::from(own.is_some());
        if let (Some(own), Some(end)) = (own, end) {
            counts[2] += 1;
            counts[3] += usize::from(own == end);
        }
    }
}

impl Views<'_> {
    /// Why the outlines differ here; `None` if ours and ctags' are the same.
    fn reason(&self, key: &Key, later: bool) -> Option<&'static str> {
        let macro_like = key.0.len() > 1 && !key.0.contains(|c: char| c.is_lowercase());
        // A declaration may span this many lines; beyond them it is another definition of the same name.
        let near = |other: &Key| other.0 == key.0 && other.1.abs_diff(key.1) <= 3;
        let (ours, tags, tree) = (self.ours.get(key), self.tags.get(key), self.tree.get(key));
        match (ours, tags, tree) {
            (Some(own), Some(Some(end)), _) if own == end => None,
            (Some(_), Some(None), _) => Some("end: ctags gives none"),
            (Some(own), Some(Some(_)), Some(tree)) if own == tree => Some("end: ctags alone differs"),
            (Some(_), Some(Some(end)), Some(tree)) if end == tree => Some("end: OURS alone differs"),
            (Some(_), Some(Some(_)), _) => Some("end: no two agree"),
            (None, Some(_), Some(_)) => Some("name: OURS alone lacks it"),
            (None, Some(_), None) if self.ours.keys().any(near) => {
                Some("name: ctags puts it on another line")
            }
            (None, Some(_), None) if macro_like => Some("name: ctags takes a macro for it"),
            (None, Some(_), None) if later => Some("name: ctags alone, in a later branch"),
            (None, Some(_), None) => Some("name: ctags alone has it"),
            (Some(_), None, _) if self.typedefs.contains(key) => None,
            (Some(_), None, _) if self.tags.keys().any(near) => Some("name: ctags puts it on another line"),
            (Some(_), None, Some(_)) if later => Some("name: ctags skips a later branch"),
            (Some(_), None, Some(_)) => Some("name: ctags alone lacks it"),
            (Some(_), None, None) if later => Some("name: ours alone, in a later branch"),
            (Some(_), None, None) if macro_like => Some("name: ours alone, spelled like a macro"),
            (Some(_), None, None) => Some("name: ours alone has it"),
            (None, None, _) => Some("name: tree-sitter alone has it"),
        }
    }
}

/// A peer's definitions by name and line.
pub(super) fn keyed(definitions: &[Definition]) -> impl Iterator<Item = (Key, Option<usize>)> {
    definitions
        .iter()
        .filter(|definition| !definition.name.is_empty())
        .map(|definition| ((definition.name.clone(), definition.line), definition.last))
}

/// For each line, true if it is in a branch of `#if` that is not the first, or in `#if 0`.
fn later_branches(text: &str) -> Vec<bool> {
    let mut open: Vec<bool> = Vec::new();
    text.lines()
        .map(|line| {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start).unwrap_or_default();
            if directive.starts_with("if") {
                open.push(directive.split_whitespace().nth(1) == Some("0"));
            } else if directive.starts_with("el")
                && let Some(last) = open.last_mut()
            {
                *last = true;
            } else if directive.starts_with("endif") {
                open.pop();
            }
            open.contains(&true)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views<'f>(text: &'f str, ours: Option<usize>, tags: Option<usize>, tree: Option<usize>) -> Views<'f> {
        let key = || ("f".to_owned(), 1);
        Views {
            text,
            ours: ours.map(|last| (key(), last)).into_iter().collect(),
            tags: tags.map(|last| (key(), Some(last))).into_iter().collect(),
            tree: tree.map(|last| (key(), last)).into_iter().collect(),
            typedefs: HashSet::new(),
        }
    }

    #[track_caller]
    fn check(
        ours: Option<usize>,
        tags: Option<usize>,
        tree: Option<usize>,
        why: Option<&str>,
        judged: [usize; 2],
    ) {
        let mut tally = Tally::default();
        let differences = tally.add(&views("f\n", ours, tags, tree));
        assert_eq!(differences.first().map(|difference| difference.why), why);
        assert_eq!(tally.judged, judged);
    }

    #[test]
    fn two_outvote_the_third() {
        check(Some(3), Some(3), Some(3), None, [1, 1]);
        check(Some(3), Some(4), Some(3), Some("end: ctags alone differs"), [1, 1]);
        check(Some(3), Some(4), Some(4), Some("end: OURS alone differs"), [1, 0]);
        check(None, Some(4), Some(4), Some("name: OURS alone lacks it"), [1, 0]);
        check(Some(3), None, Some(3), Some("name: ctags alone lacks it"), [1, 1]);
        check(Some(3), None, None, Some("name: ours alone has it"), [0, 0]);
        check(None, Some(4), None, Some("name: ctags alone has it"), [0, 0]);
    }

    #[test]
    fn branches_after_the_first_are_known() {
        let text = "a\n#if X\nb\n# else\nc\n#endif\nd\n#if 0\ne\n#endif\n";
        let later = later_branches(text);
        assert_eq!([later[0], later[2], later[4], later[6], later[8]], [false, false, true, false, true]);
    }
}
