//! Values that a text assigns to a secret name: `password=…`, `"api_key": "…"`, `X-Api-Key: …`,
//! `<secret>…</secret>`. Only the value is hidden. Code that passes such a value on is left alone if
//! it can be told from a value; if not, it is hidden.

use std::ops::Range;

use regex::Regex;

use crate::literal;

/// The sign of assignment after a name. Besides real ones it may be the end of a tag, a member `value`
/// after the one with the name, a second argument, or a space after a flag of a command or a word of
/// an old format.
const SIGN: &str = r#"(?x) \A (?:
    (?P<sign> \\*["'`]? \]? [\ \t]* (?: :=? | =>? ) [\ \t]* )
  | (?P<pair> \\*["']? [\ \t]* ,? \s* \\*["']? (?i:value) \\*["']? [\ \t]* [:=] [\ \t]*)
  | (?P<second> ["'] [\ \t]* , [\ \t]*)
  | (?P<tag> > | [\ ][a-zA-Z][a-zA-Z0-9:_-]*[\ ]?= )
  | (?P<space> \s+ ) )"#;

/// Calls that wrap a literal value without changing it.
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
/// The most such calls inside each other that are looked through.
const MOST_AROUND: usize = 3;

/// Words in the place of a value, in code and in forms, that are not values.
const NO_VALUES: &str = "\
    any bool boolean bytes char false int none null nil number object optional required str string text \
    true undefined unset void";

/// Parts of names under which a number is a measure of secrets and not a secret itself.
const MEASURES: &str = "\
    count days expires expiry hours iterations len length limit max min minutes rounds seconds size \
    timeout tokens ttl version";

/// A number with fewer digits is a count or a flag rather than a secret.
const FEW_DIGITS: usize = 4;
/// The most bytes of a bare word that are read to tell what it is. Without a limit, names in names
/// would be read again and again.
const TELLING: usize = 256;

/// Words that follow the name of a flag in a sentence or a synopsis.
const PROSE: &str = "\
    and are argument as can cannot command flag flags for from if in is may must not on option options \
    or parameter should that the to was when will with";

/// Finds values of secret names.
#[derive(Debug)]
pub(crate) struct Assigned(Regex);

impl Assigned {
    pub(crate) fn new() -> Result<Self, String> {
        Regex::new(SIGN).map(Self).map_err(|error| error.to_string())
    }

    /// The value that the text assigns to the name at this place. `attributes` gets the rest of a tag
    /// whose element has the value, since it may have names with values too.
    pub(crate) fn value(
        &self,
        text: &str,
        name: Range<usize>,
        attributes: &mut dyn FnMut(Range<usize>),
    ) -> Option<Range<usize>> {
        let found = self.0.captures(&text[name.end..])?;
        let sign = name.end..name.end + found.get(0)?.end();
        let place = Assignment::new(text, name, sign.clone());
        if found.name("sign").is_some() {
            return place.secret();
        }
        if found.name("pair").is_some() {
            return place.paired();
        }
        if found.name("second").is_some() {
            return place.second();
        }
        if found.name("space").is_some() {
            return place.spaced();
        }
        let value = place.element()?;
        attributes(sign.start..value.start);
        Some(value)
    }
}

/// A name and a sign of assignment, with the text around them.
struct Assignment<'t> {
    text: &'t str,
    name: &'t str,
    /// The text before the name.
    before: &'t str,
    sign: &'t str,
    /// The offset of the value, if there is one.
    at: usize,
}

impl<'t> Assignment<'t> {
    fn new(text: &'t str, name: Range<usize>, sign: Range<usize>) -> Self {
        let before = &text[..name.start];
        Self { text, name: &text[name], before, sign: &text[sign.clone()], at: sign.end }
    }

    /// The text of an element of this name.
    fn element(&self) -> Option<Range<usize>> {
        if !self.before.ends_with(['<', ':']) {
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
        let named = self.before.trim_end_matches(['"', '\'', '\\']).trim_end_matches([' ', '\t']);
        if !named.ends_with([':', '=']) {
            return None;
        }
        literal::quoted(self.text, self.at).or_else(word)
    }

    /// The default in a call that reads a variable of this name: `getenv("DB_PASSWORD", "…")`.
    fn second(&self) -> Option<Range<usize>> {
        let is_variable = !self.name.contains(|c: char| c.is_lowercase());
        let first = self.before.strip_suffix(['"', '\'']).is_some_and(|before| before.ends_with('('));
        if is_variable && first { literal::quoted(self.text, self.at) } else { None }
    }

    /// The value of a flag, of a variable in a list of settings, or in an SQL statement.
    fn spaced(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let flag = self.name.starts_with('-') && !self.before.ends_with(|c: char| c.is_alphanumeric());
        let word =
            self.before.trim_end_matches([' ', '\t']).rsplit(|c: char| !c.is_ascii_alphabetic()).next();
        let word = word.unwrap_or_default().to_ascii_lowercase();
        let is_line = !self.sign.contains('\n');
        let quoted = || literal::quoted(self.text, self.at);
        match &*word {
            "with" | "encrypted" | "set" | "by" if rest.starts_with('\'') => quoted(),
            "env" | "arg" | "setenv" if is_line && !self.name.contains(|c: char| c.is_lowercase()) => {
                self.line()
            }
            _ if self.name.eq_ignore_ascii_case("requirepass") || self.name == "masterauth" => self.word(),
            _ if flag && is_line => quoted().or_else(|| self.word()),
            _ => None,
        }
    }

    /// The word at this place, unless it belongs to a sentence about the name.
    fn word(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| c.is_whitespace() || "\"'`".contains(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        let is_none =
            word.is_empty() || word.starts_with(['-', '<', '[', '{', '|', '(', '=', ',', '.', '$', '&']);
        let plain = word.trim_end_matches(['.', ',', ';', ':', ')']);
        (!is_none && !is_listed(PROSE, plain) && !self.is_measure(plain)).then(|| self.at..self.at + length)
    }

    /// The rest of the line.
    fn line(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
        (length > 0 && !rest.starts_with('=')).then(|| self.at..self.at + length)
    }

    fn secret(&self) -> Option<Range<usize>> {
        literal::quoted(self.text, self.inside())
            .or_else(|| literal::block(self.text, self.at))
            .or_else(|| self.typed())
            .or_else(|| self.bare())
    }

    /// The offset of the value inside of calls that only wrap it.
    fn inside(&self) -> usize {
        let mut at = self.at;
        for _ in 0..MOST_AROUND {
            let Some(call) = AROUND.iter().find(|call| self.text[at..].starts_with(**call)) else { break };
            at += call.len();
        }
        at
    }

    /// A quoted text after the name's type: `password: str = "…"`.
    fn typed(&self) -> Option<Range<usize>> {
        if !self.sign.trim().ends_with(':') {
            return None;
        }
        literal::quoted(self.text, literal::past_type(self.text, self.at)?)
    }

    fn bare(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        // A parameter of a URL or of a form is a value whatever it looks like.
        if self.sign == "=" && self.before.ends_with(['?', '&']) {
            return parameter_value(self.text, self.at, 1);
        }
        if self.name.starts_with('-') && self.sign == "=" {
            return self.word();
        }
        // A comparison, a path, a closure.
        if rest.starts_with(['=', ':', '~']) || (self.sign != "=" && rest.starts_with('|')) {
            return None;
        }
        // In an environment file and on a command line the value extends to the next space.
        let is_setting = self.sign == "=" && !self.name.contains(|c: char| c.is_lowercase());
        let stops = if is_setting { "\"'`" } else { "\"'`,;&(){}[]<>" };
        let until = |text: &str| text.find(|c: char| c.is_whitespace() || stops.contains(c));
        let telling = &rest[..rest.floor_char_boundary(TELLING)];
        let word = &telling[..until(telling).unwrap_or(telling.len())];
        let is_secret = if word.is_empty() || self.is_measure(word) {
            false
        } else if is_setting {
            word.len() >= FEW_DIGITS || !word.bytes().all(|byte| byte.is_ascii_digit())
        } else {
            is_value(word, self.sign, self.before, &rest[word.len()..])
        };
        is_secret.then(|| self.at..self.at + until(rest).unwrap_or(rest.len()))
    }

    fn is_measure(&self, word: &str) -> bool {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let mut parts = self.name.split(['_', '-']).map(str::to_ascii_lowercase);
        is_number && parts.any(|part| is_listed(MEASURES, &part))
    }
}

fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// True if a bare word is a value rather than code.
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
    if sized || is_listed(NO_VALUES, &lower) {
        return false;
    }
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphabetic() || c == '_')
    };
    if !plain.split('.').all(part) {
        return true;
    }
    // The rest are words like names of variables and fields.
    if plain.contains('.') {
        return false;
    }
    if sign == "=" {
        return !before.ends_with('(');
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

/// The value of the parameter that begins here.
pub(crate) fn parameter_value(text: &str, at: usize, least: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let length = rest.find(|c: char| c.is_whitespace() || "&#\"'<>`".contains(c)).unwrap_or(rest.len());
    // A variable is only a name.
    (length >= least && !rest.starts_with(['{', '$'])).then(|| at..at + length)
}

#[cfg(test)]
#[path = "assigned_tests.rs"]
mod tests;
