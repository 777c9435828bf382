//! From a name as people write it to the symbols it can mean.

mod full;
mod near;
mod parts;

use std::fmt::Write;

pub use self::{
    full::{full_name, path},
    near::some,
    parts::{is_announced, is_part},
};
use self::{
    full::{joins, parts},
    near::near,
};
use crate::{Kind, Outline, Pack, Symbol};

/// Candidates a message names; a common name in a generated file has thousands.
const MOST_NAMED: usize = 20;

/// Words that people quote with a name.
const KEYWORDS: &str = "\
    class def enum fn func function impl interface module namespace struct trait type union";

/// A name as it was asked for: `Class.method`, `A::f(int)`, `name#2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'n> {
    /// The parts of the name, outermost first.
    pub parts: Vec<&'n str>,
    /// The text in parentheses after it.
    pub params: Option<&'n str>,
    /// The number of the one that is meant among several, from 1.
    pub ordinal: Option<usize>,
    /// True if something added to a type is meant and not the type: `impl A`.
    pub added: bool,
}

impl<'n> Asked<'n> {
    /// Reads a name. `.` and `::` both separate, whatever the language.
    pub fn parse(name: &'n str) -> Self {
        let mut rest = name.trim();
        let mut ordinal = None;
        if let Some((before, number)) = rest.rsplit_once('#')
            && let Ok(number) = number.trim().parse()
        {
            (rest, ordinal) = (before.trim_end(), Some(number));
        }
        let (mut params, mut added) = (None, false);
        // `class A`, `impl A`: as an outline or the source has it.
        if let Some((word, name)) = rest.split_once(' ')
            && KEYWORDS.split(' ').any(|keyword| keyword == word)
        {
            (rest, added) = (name.trim_start(), word == "impl");
        }
        // The call operator's own parentheses belong to its name.
        let from = rest.find("operator()").map_or(0, |at| at + "operator()".len());
        if rest.ends_with(')')
            && let Some(at) = rest[from..].find('(')
        {
            params = Some(rest[from + at + 1..rest.len() - 1].trim());
            rest = rest[..from + at].trim_end();
        }
        Self { parts: parts(rest), params, ordinal, added }
    }
}

/// The meanings that a name can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing here has this name. Names that come near, best first.
    Nothing(Vec<String>),
    /// These, in the order of the text: one, or several that the name does not tell apart.
    Some(Vec<u32>),
}

/// Finds what a name means among the symbols that `fits`.
///
/// A full path beats the end of one (`f` is the function at the top, if there is one, and
/// else any `A.f`), a definition beats its declaration, `#n` and parameters choose. What is only
/// added to a type comes after the type.
pub fn find(
    pack: &Pack,
    text: &str,
    outline: &Outline,
    asked: &Asked<'_>,
    fits: impl Fn(&Symbol) -> bool,
) -> Meaning {
    let mut whole = Vec::new();
    let mut partly = Vec::new();
    for (index, symbol) in (0u32..).zip(&outline.symbols).filter(|(_, symbol)| fits(symbol)) {
        let path = separated(path(text, outline, index));
        if !ends_with(&path, &asked.parts) {
            continue;
        }
        if let Some(params) = asked.params
            && !pack.front.params_match.unwrap_or(params_match)(params, symbol.params.slice(text))
        {
            continue;
        }
        if path.len() == asked.parts.len() { &mut whole } else { &mut partly }.push(index);
    }
    let mut found = if whole.is_empty() { partly } else { whole };
    if asked.added && found.iter().any(|index| adds(outline, *index)) {
        found.retain(|index| adds(outline, *index));
    }
    // Definitions are counted before what is added to them and before declarations, so that a
    // number means the same whether those were listed or not.
    let declared = |index: &u32| outline.symbols[*index as usize].declaration;
    found.sort_by_key(|index| (declared(index), adds(outline, *index)));
    let definitions = found.iter().filter(|index| !declared(index)).count();
    match asked.ordinal {
        Some(ordinal) => {
            found = found.get(ordinal.wrapping_sub(1)).map(|index| vec![*index]).unwrap_or_default();
        }
        None if definitions > 0 => found.truncate(definitions),
        None => {}
    }
    if found.is_empty() {
        return Meaning::Nothing(near(pack, text, outline, asked.parts.last().copied().unwrap_or_default()));
    }
    Meaning::Some(found)
}

/// Those of the symbols a name can mean that define it: what is only added to a type is none
/// where the type itself is among them.
pub fn defining<'f>(outline: &Outline, found: &'f [u32]) -> &'f [u32] {
    let defined = found.iter().take_while(|index| !adds(outline, **index)).count();
    &found[..if defined == 0 { found.len() } else { defined }]
}

/// True if a symbol adds to a type that is defined elsewhere.
fn adds(outline: &Outline, index: u32) -> bool {
    outline.symbols[index as usize].kind == Kind::Impl
}

/// A path whose parts are split as an asked name is. A function of Bash may be called `a::b`,
/// one word to the shell and two parts to whoever asks for it.
fn separated(path: Vec<&str>) -> Vec<&str> {
    if path.iter().any(|part| part.contains("::") || part.contains('.')) {
        return path.into_iter().flat_map(parts).collect();
    }
    path
}

fn ends_with(path: &[&str], asked: &[&str]) -> bool {
    asked.len() <= path.len()
        && !asked.is_empty()
        && path[path.len() - asked.len()..].iter().zip(asked).all(|(part, asked)| same(part, asked))
}

/// True if two parts are one name: blanks do not count, and template arguments only where
/// both have them.
fn same(part: &str, asked: &str) -> bool {
    if part == asked {
        return true;
    }
    let squeeze = |name: &str| name.split_whitespace().collect::<String>();
    let bare = |name: &str| {
        if name.starts_with("operator") {
            squeeze(name)
        } else {
            squeeze(name.split('<').next().unwrap_or(name))
        }
    };
    squeeze(part) == squeeze(asked) || (!asked.contains('<') && bare(part) == bare(asked))
}

/// True if typed parameters choose the written ones: the same number of them, each with the
/// typed words in it in this order. `void` is nothing.
pub fn params_match(typed: &str, written: &str) -> bool {
    let list = |params: &str| -> Vec<Vec<String>> {
        let params = params.trim();
        if params.is_empty() || params == "void" {
            return Vec::new();
        }
        split_list(params).into_iter().map(words).collect()
    };
    let (typed, written) = (list(typed), list(written));
    typed.len() == written.len()
        && typed.iter().zip(&written).all(|(typed, written)| {
            let mut words = written.iter();
            // One name more is the parameter's; anything else is another type.
            let found = typed.iter().all(|word| words.any(|other| other == word));
            let signs = |list: &[String]| {
                list.iter().filter(|word| matches!(word.as_str(), "*" | "&" | "&&" | "[]")).count()
            };
            found && signs(typed) == signs(written) && written.len() <= typed.len() + 1
        })
}

/// Splits at commas outside brackets.
fn split_list(params: &str) -> Vec<&str> {
    let (mut list, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, c) in params.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                list.push(&params[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    list.push(&params[start..]);
    list
}

/// The words and signs of one parameter, without its default.
fn words(param: &str) -> Vec<String> {
    let param = param.split('=').next().unwrap_or(param);
    let mut words: Vec<String> = Vec::new();
    let mut joining = false;
    for c in param.chars() {
        let joins = joins(Some(c));
        if c.is_whitespace() {
            joining = false;
            continue;
        }
        match words.last_mut() {
            Some(word) if joins && joining => word.push(c),
            Some(word) if c == '&' && word == "&" => word.push(c),
            Some(word) if c == ']' && word == "[" => word.push(c),
            _ => words.push(c.to_string()),
        }
        joining = joins;
    }
    words
}

/// The candidates of an ambiguous name, one a line, each with the way to choose it.
pub fn choices(pack: &Pack, text: &str, outline: &Outline, found: &[u32], asked: &str) -> String {
    let bare = asked.rsplit_once('#').map_or(asked, |(name, _)| name);
    let mut list = String::new();
    for (number, index) in found.iter().enumerate().take(MOST_NAMED) {
        let symbol = &outline.symbols[*index as usize];
        let line = line_of(text, symbol.head.start as usize);
        let head: String = symbol.head.slice(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let head: String = head.chars().take(120).collect();
        let name = full_name(pack, text, outline, *index);
        let _ = writeln!(list, "  {bare}#{}: line {line}: {name}: {head}", number + 1);
    }
    if found.len() > MOST_NAMED {
        let _ = writeln!(list, "  … and {} more", found.len() - MOST_NAMED);
    }
    list
}

/// The number of the line an offset is in, from 1. A lone `\r` ends a line too.
pub fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let lone = |at: &usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    1 + memchr::memchr_iter(b'\n', before).count() + memchr::memchr_iter(b'\r', before).filter(lone).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, parts: &[&str], params: Option<&str>, ordinal: Option<usize>) {
        assert_eq!(
            Asked::parse(name),
            Asked { parts: parts.to_vec(), params, ordinal, added: name.starts_with("impl ") }
        );
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        check("f", &["f"], None, None);
        check("A.B.m#2", &["A", "B", "m"], None, Some(2));
        check("A::B::m(int, char*)", &["A", "B", "m"], Some("int, char*"), None);
        check("V<std::pair<a, b>>::f", &["V<std::pair<a, b>>", "f"], None, None);
        check("A::operator()", &["A", "operator()"], None, None);
        check("A::operator()(int)", &["A", "operator()"], Some("int"), None);
        check("A::operator->", &["A", "operator->"], None, None);
        check("::f()", &["f"], Some(""), None);
        check("~A", &["~A"], None, None);
        check("impl A", &["A"], None, None);
        check("A::operator bool", &["A", "operator bool"], None, None);
        check("A.[Symbol.iterator]", &["A", "[Symbol.iterator]"], None, None);
    }

    #[test]
    fn typed_parameters_choose() {
        for (typed, written, expect) in [
            ("", "void", true),
            ("int", "int a", true),
            ("int", "int", true),
            ("int", "unsigned int a", false),
            ("int", "int *a", false),
            ("int*", "int *a", true),
            ("const char*, int", "const char *name = \"a\", int n", true),
            ("int", "int a, int b", false),
            ("std::map<int, int>&", "std::map<int, int> &m", true),
            ("char", "int a", false),
        ] {
            assert_eq!(params_match(typed, written), expect, "{typed} / {written}");
        }
    }
}
