//! Values that a text gives to a name which means a secret: `password=…`, `"api_key": "…"`,
//! `X-Api-Key: …`, `<secret>…</secret>`. Only the value is hidden. Code that passes such a value on
//! is left alone where it can be told from a value; where it cannot, it is hidden.

use std::{borrow::Cow, ops::Range};

use regex::Regex;

use crate::literal;

/// The telling part of a name and the sign that gives it a value. The name may go on to the left;
/// matching begins at its telling part, which is what makes it quick. Besides signs of assignment there
/// are the end of a tag, a member `value` behind the one that has the name, and a second argument.
const ASSIGNED: &str = r#"(?ix)
    (?: (?:passw(?:or)?d|passphrase|secret|api[_-]?key|private[_-]?key|access[_-]?key|credential) [a-z0-9_-]*
      | (?-i:TOKEN[A-Z0-9_]* | [A-Z0-9]_PASS | [A-Z0-9]_PWD) | token | authorization )
    (?P<sign> \\*["'`]? \]? [\ \t]* (?: :=? | =>? ) [\ \t]*
      | (?P<pair> \\*["']? [\ \t]* ,? \s* \\*["']? value \\*["']? [\ \t]* [:=] [\ \t]*)
      | (?P<second> ["'] [\ \t]* , [\ \t]*)
      | (?P<tag> > | [\ ][a-z] ) )"#;

/// Calls that a written value stands in without becoming another.
const AROUND: &[&str] = &[
    "Some(",
    "Ok(",
    "String::from(",
    "SecretString::from(",
    "Secret::new(",
    "SecretStr(",
    "Box::from(",
    "Arc::from(",
    "new String(",
    "bytes(",
    "str(",
];
/// So many of them are looked through.
const MOST_AROUND: usize = 3;

/// Words that stand in a value's place in code and in forms, and are none.
const NO_VALUES: &[&str] = &[
    "any",
    "bool",
    "boolean",
    "bytes",
    "char",
    "false",
    "int",
    "none",
    "null",
    "nil",
    "number",
    "object",
    "optional",
    "required",
    "str",
    "string",
    "text",
    "true",
    "undefined",
    "unset",
    "void",
];

/// Parts of names under which a number is a measure of secrets and none itself.
const MEASURES: &[&str] = &[
    "count",
    "days",
    "expires",
    "expiry",
    "hours",
    "iterations",
    "len",
    "length",
    "limit",
    "max",
    "min",
    "minutes",
    "rounds",
    "seconds",
    "size",
    "timeout",
    "tokens",
    "ttl",
    "version",
];

/// A number with fewer digits is a count or a flag rather than a secret.
const FEW_DIGITS: usize = 4;
/// So much of a bare word tells what it is. Without a bound, names in names would be read again and
/// again.
const TELLING: usize = 256;

/// Finds values of secret names.
#[derive(Debug)]
pub(crate) struct Assigned(Regex);

impl Assigned {
    pub(crate) fn new() -> Result<Self, String> {
        Regex::new(ASSIGNED).map(Self).map_err(|error| error.to_string())
    }

    /// The text with `hidden` in the place of every such value.
    pub(crate) fn hide<'t>(&self, text: &'t str, hidden: &str) -> Cow<'t, str> {
        let mut out = String::new();
        let (mut kept, mut at) = (0, 0);
        while let Some(found) = self.0.captures_at(text, at) {
            let (Some(whole), Some(sign)) = (found.get(0), found.name("sign")) else { break };
            // Behind a tag's name the next name may begin at once.
            at = if found.name("tag").is_some() { sign.start() + 1 } else { sign.end() };
            let place = Place::new(text, whole.start(), sign.range());
            let value = match () {
                () if found.name("tag").is_some() => place.element(),
                () if found.name("pair").is_some() => place.paired(),
                () if found.name("second").is_some() => place.second(),
                () => place.secret(),
            };
            let Some(value) = value else { continue };
            out.push_str(&text[kept..sign.start()]);
            // A tag may have attributes, which are names with values too.
            out.push_str(&match found.name("tag") {
                Some(_) => self.hide(&text[sign.start()..value.start], hidden),
                None => Cow::Borrowed(&text[sign.start()..value.start]),
            });
            out.push_str(hidden);
            kept = value.end;
            at = value.end;
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[kept..]);
        Cow::Owned(out)
    }
}

/// A name and a sign, and what stands around them.
struct Place<'t> {
    text: &'t str,
    name: &'t str,
    /// What stands before the telling part of the name.
    before: &'t str,
    sign: &'t str,
    /// Where the value begins, if there is one.
    at: usize,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, telling: usize, sign: Range<usize>) -> Self {
        let before = &text[..telling];
        let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || "_-".contains(c)).len();
        Self { text, name: &text[start..sign.start], before, sign: &text[sign.clone()], at: sign.end }
    }

    /// What stands before the name.
    fn outside(&self) -> &'t str {
        &self.text[..self.at - self.sign.len() - self.name.len()]
    }

    /// The text of an element of this name.
    fn element(&self) -> Option<Range<usize>> {
        if !self.outside().ends_with(['<', ':']) {
            return None;
        }
        literal::element(self.text, literal::past_tag(self.text, self.at - self.sign.len())?)
    }

    /// The value of a pair: `name: DB_PASSWORD` and then `value: …`.
    fn paired(&self) -> Option<Range<usize>> {
        let word = || {
            let rest = &self.text[self.at..];
            let length = rest.find(|c: char| c.is_whitespace() || ",}>".contains(c)).unwrap_or(rest.len());
            (length > 0).then(|| self.at..self.at + length)
        };
        let named = self.outside().trim_end_matches(['"', '\'', '\\']).trim_end_matches([' ', '\t']);
        if !named.ends_with([':', '=']) {
            return None;
        }
        literal::quoted(self.text, self.at).or_else(word)
    }

    /// What is given in a call if the environment has none of this name: `getenv("DB_PASSWORD", "…")`.
    fn second(&self) -> Option<Range<usize>> {
        let is_variable = !self.name.contains(|c: char| c.is_lowercase());
        let first = self.outside().strip_suffix(['"', '\'']).is_some_and(|before| before.ends_with('('));
        if is_variable && first { literal::quoted(self.text, self.at) } else { None }
    }

    fn secret(&self) -> Option<Range<usize>> {
        literal::quoted(self.text, self.inside())
            .or_else(|| literal::block(self.text, self.at))
            .or_else(|| self.typed())
            .or_else(|| self.bare())
    }

    /// Where the value begins inside of calls that only wrap it.
    fn inside(&self) -> usize {
        let mut at = self.at;
        for _ in 0..MOST_AROUND {
            let Some(call) = AROUND.iter().find(|call| self.text[at..].starts_with(**call)) else { break };
            at += call.len();
        }
        at
    }

    /// A text in quotes behind the name's type: `password: str = "…"`.
    fn typed(&self) -> Option<Range<usize>> {
        if !self.sign.trim().ends_with(':') {
            return None;
        }
        literal::quoted(self.text, literal::past_type(self.text, self.at)?)
    }

    fn bare(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        if rest.starts_with(['=', ':', '~']) {
            return None;
        }
        // In an environment file and on a command line the value goes on to the next space.
        let is_setting = self.sign == "=" && !self.name.contains(|c: char| c.is_lowercase());
        let stops = if is_setting { "\"'`" } else { "\"'`,;&(){}[]<>" };
        let until = |text: &str| text.find(|c: char| c.is_whitespace() || stops.contains(c));
        let telling = &rest[..rest.floor_char_boundary(TELLING)];
        let word = &telling[..until(telling).unwrap_or(telling.len())];
        let is_secret = match is_setting {
            _ if word.is_empty() || self.is_measure(word) => false,
            true => word.len() >= FEW_DIGITS || !word.bytes().all(|byte| byte.is_ascii_digit()),
            false => is_value(word, self.sign, self.before, &rest[word.len()..]),
        };
        is_secret.then(|| self.at..self.at + until(rest).unwrap_or(rest.len()))
    }

    fn is_measure(&self, word: &str) -> bool {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let mut parts = self.name.split(['_', '-']).map(str::to_ascii_lowercase);
        is_number && parts.any(|part| MEASURES.contains(&&*part))
    }
}

/// Whether a bare word is a value rather than code.
fn is_value(word: &str, sign: &str, before: &str, after: &str) -> bool {
    // A call, an index, a type with parameters, a path.
    if after.starts_with(['(', '[', '{', '<']) || word.contains("::") {
        return false;
    }
    let plain = word.trim_end_matches(['.', ':', '!', '?', '*']);
    let letters = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = letters.to_ascii_lowercase();
    if letters.is_empty() {
        return plain.len() >= FEW_DIGITS;
    }
    let sized = letters.len() < plain.len() && ["i", "u", "f", "int", "uint", "float"].contains(&&*lower);
    if sized || NO_VALUES.contains(&&*lower) {
        return false;
    }
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphabetic() || c == '_')
    };
    if !plain.split('.').all(part) {
        return true;
    }
    // What is left is a word as variables and fields have them.
    if plain.contains('.') {
        return false;
    }
    if sign == "=" {
        return !before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').ends_with('(');
    }
    if after.starts_with(['"', '\'', '\\']) {
        return true;
    }
    let named = &before[before.ceil_char_boundary(before.len().saturating_sub(TELLING))..];
    let named = named.rsplit(['\n', '\r']).next().unwrap_or_default();
    let starts = named.chars().all(|c| c.is_alphanumeric() || " \t_.-\"'".contains(c));
    let rest = after.trim_start_matches([' ', '\t']);
    let type_name = plain.starts_with(|c: char| c.is_ascii_uppercase());
    starts
        && !named.trim().contains(' ')
        && (rest.is_empty() || rest.starts_with(['\n', '\r', '#']))
        && !type_name
}

#[cfg(test)]
#[path = "assigned_tests.rs"]
mod tests;
