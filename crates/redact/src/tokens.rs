//! Finds tokens that are known by their form, in one pass over a text.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem::Finder;

use crate::kinds::{Body, Edge, KINDS};

/// The header of a JSON Web Token in base64.
const JWT: &str = "eyJ";
/// The most bytes of a prefix.
const MOST_PREFIX: usize = 32;
/// The part of a Telegram bot token after the number of the bot.
const TELEGRAM: &str = ":AA";
/// The part of a Mailchimp key before the number of its data centre.
const MAILCHIMP: &str = "-us";
/// The beginning of each PEM marker.
const DASHES: &str = "-----";
const BEGIN: &str = "-----BEGIN ";
/// The headers of a PuTTY key: its lines, and its MAC.
const PUTTY: [&str; 2] = ["Private-Lines:", "Private-MAC:"];
/// The least length of a run of base64 that is surely a key.
const SURELY_KEY: usize = 40;
/// The most bytes of a PEM marker with its label.
const MOST_MARK: usize = 80;
/// The most bytes of a word that are read to tell if it is a name.
const MOST_NAME: usize = 64;

#[derive(Debug, Clone, Copy)]
enum Shape {
    Kind(Body, usize, Edge),
    Jwt,
    Telegram,
    Mailchimp,
}

/// Finds tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    prefixes: AhoCorasick,
    shapes: Vec<Shape>,
    begin: Finder<'static>,
}

impl Tokens {
    pub(crate) fn new() -> Result<Self, String> {
        let mut words = Vec::new();
        let mut shapes = Vec::new();
        let special = [(JWT, Shape::Jwt), (TELEGRAM, Shape::Telegram), (MAILCHIMP, Shape::Mailchimp)];
        for (word, shape) in special {
            words.push(word);
            shapes.push(shape);
        }
        for (prefixes, body, least, edge) in KINDS {
            for prefix in *prefixes {
                words.push(prefix);
                shapes.push(Shape::Kind(*body, *least, *edge));
            }
        }
        let prefixes = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words);
        Ok(Self { prefixes: prefixes.map_err(|error| error.to_string())?, shapes, begin: Finder::new(BEGIN) })
    }

    /// Calls `give` with the range of every token. Only long words are searched, with the text right
    /// before them, since every token has one.
    pub(crate) fn find(&self, text: &str, words: &[Range<usize>], mut give: impl FnMut(Range<usize>)) {
        let (mut hidden, mut no_jwt) = (0, 0);
        for word in words {
            // A prefix is in the word, unless one of its signs is not.
            let is_cut = word.start > 0 && b".:=$~".contains(&text.as_bytes()[word.start - 1]);
            let before = if is_cut { MOST_PREFIX } else { 0 };
            let from = text.floor_char_boundary(word.start.saturating_sub(before));
            for found in self.prefixes.find_overlapping_iter(&text.as_bytes()[from..word.end]) {
                let prefix = from + found.start()..from + found.end();
                if prefix.start < hidden {
                    continue;
                }
                let range = match self.shapes[found.pattern().as_usize()] {
                    Shape::Kind(body, least, edge) => token(text, prefix.clone(), body, least, edge)
                        .map(|end| beginning(text, prefix.start)..end),
                    // Inside of a run that is not a JWT there is none either.
                    Shape::Jwt if prefix.start < no_jwt => None,
                    Shape::Jwt => jwt(text, prefix.start).map_err(|end| no_jwt = end).ok(),
                    Shape::Telegram => telegram(text, prefix.start),
                    Shape::Mailchimp => mailchimp(text, prefix.start),
                };
                if let Some(range) = range {
                    hidden = range.end;
                    give(range);
                }
            }
        }
    }

    /// Calls `give` with the range of every private key.
    pub(crate) fn private_keys(&self, text: &str, mut give: impl FnMut(Range<usize>)) {
        let mut hidden = 0;
        for start in self.begin.find_iter(text.as_bytes()) {
            if start >= hidden
                && let Some(range) = pem(text, start)
            {
                hidden = range.end;
                give(range);
            }
        }
        for mark in PUTTY {
            let marks = memchr::memmem::find_iter(text.as_bytes(), mark);
            marks.filter_map(|start| putty(text, start + mark.len())).for_each(&mut give);
        }
    }

    /// True if a private key begins in the text and does not end.
    pub(crate) fn leaves_key_open(&self, text: &str) -> bool {
        self.begin.find(text.as_bytes()).is_some() && leaves_key_open(text)
    }
}

/// The words without which no private key is found.
pub(crate) fn keys() -> impl Iterator<Item = String> {
    [BEGIN].into_iter().chain(PUTTY).map(str::to_ascii_lowercase)
}

fn run(bytes: &[u8], is_in: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_in(*byte)).unwrap_or(bytes.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The end of a token that begins with this prefix.
fn token(text: &str, prefix: Range<usize>, body: Body, least: usize, edge: Edge) -> Option<usize> {
    let bytes = text.as_bytes();
    // A letter after a backslash is no part of a word.
    let stands_alone = match &bytes[..prefix.start] {
        [] | [.., b'\\', _] => true,
        [.., before] => !is_word(*before),
    };
    if edge != Edge::Free && !stands_alone {
        return None;
    }
    let rest = &bytes[prefix.end..];
    // A longer run cannot have exactly the least length.
    let rest = if edge == Edge::Exact { &rest[..rest.len().min(least + 1)] } else { rest };
    // The first bytes tell most words from tokens, before a long run is read.
    let length = run(&rest[..rest.len().min(least)], |byte| body.has(byte));
    if length < least {
        return None;
    }
    if edge == Edge::Mixed
        && !is_mixed(&rest[..run(&rest[..rest.len().min(MOST_NAME)], |byte| body.has(byte))])
    {
        return None;
    }
    let length = length + run(&rest[length..], |byte| body.has(byte));
    let fits = match edge {
        Edge::Free | Edge::Word | Edge::Mixed => true,
        Edge::Exact => length == least && bytes.get(prefix.end + length).is_none_or(|next| !is_word(*next)),
    };
    fits.then_some(prefix.end + length)
}

/// The start of a token: some have their prefix in the middle, with a dot before it.
fn beginning(text: &str, prefix: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes[prefix] != b'.' {
        return prefix;
    }
    prefix
        - bytes[..prefix]
            .iter()
            .rev()
            .take(MOST_PREFIX)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count()
}

/// True if a part between `-` and `_` is long and has letters and digits, as no name has.
fn is_mixed(body: &[u8]) -> bool {
    body.split(|byte| matches!(byte, b'-' | b'_')).any(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= 10 && digits >= 2 && digits < part.len()
    })
}

/// The range of a JWT of several parts, or the end of a run that is none.
fn jwt(text: &str, start: usize) -> Result<Range<usize>, usize> {
    const LEAST: usize = 8;
    let bytes = text.as_bytes();
    let part = |from: usize| run(&bytes[from..], |byte| Body::Word.has(byte));
    let mut end = start + part(start);
    let mut parts = 1;
    let is_long = end - start >= LEAST;
    while is_long && bytes.get(end) == Some(&b'.') && parts < 5 {
        let length = part(end + 1);
        if parts == 1 && length < LEAST {
            break;
        }
        end += 1 + length;
        parts += 1;
    }
    if parts > 1 { Ok(start..end) } else { Err(end) }
}

fn telegram(text: &str, colon: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    if !(8..=10).contains(&digits) {
        return None;
    }
    let length = run(&bytes[colon + 1..], |byte| Body::Word.has(byte));
    (length >= 30).then(|| colon - digits..colon + 1 + length)
}

fn mailchimp(text: &str, dash: usize) -> Option<Range<usize>> {
    const KEY: usize = 32;
    let bytes = text.as_bytes();
    let before = bytes[..dash].iter().rev().take(KEY + 1);
    let digits = before.take_while(|byte| byte.is_ascii_hexdigit()).count();
    let centre = run(&bytes[dash + MAILCHIMP.len()..], |byte| byte.is_ascii_digit());
    (digits == KEY && centre > 0).then(|| dash - KEY..dash + MAILCHIMP.len() + centre)
}

/// A private key between its markers, or the part that is left if it was cut.
fn pem(text: &str, start: usize) -> Option<Range<usize>> {
    let mark = start + BEGIN.len();
    let words = &text[mark..text.floor_char_boundary(mark + MOST_MARK)];
    let label = words.find(DASHES)?;
    if !is_key_label(&words[..label]) {
        return None;
    }
    let body = mark + label + DASHES.len();
    let rest = &text[body..];
    let next = memchr::memmem::find(rest.as_bytes(), DASHES.as_bytes());
    let block = &rest[..next.unwrap_or(rest.len())];
    let is_closed = next.is_some_and(|next| rest[next..].starts_with("-----END "));
    if is_closed && is_key_block(block) {
        let end = body + block.len() + DASHES.len();
        let after = &text[end..text.floor_char_boundary(end + MOST_MARK)];
        return Some(start..end + after.find(DASHES).map_or(0, |close| close + DASHES.len()));
    }
    // Cut off: take the lines that can only be a key.
    let mut length = 0;
    for line in block.split_inclusive('\n') {
        if !is_key_line(line) {
            break;
        }
        length += line.len();
    }
    let is_key = block[..length].bytes().any(|byte| !byte.is_ascii_whitespace());
    is_key.then_some(start..body + length)
}

fn is_key_label(label: &str) -> bool {
    label.contains("PRIVATE KEY")
        && label.bytes().all(|byte| byte.is_ascii_uppercase() || b" 0123456789".contains(&byte))
}

/// True if the text between the markers is a key rather than code that names both markers.
fn is_key_block(block: &str) -> bool {
    let mut longest = 0;
    let mut current = 0;
    let mut other = 0;
    for byte in block.bytes() {
        match byte {
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') => current += 1,
            _ => {
                longest = longest.max(current);
                current = 0;
                other += usize::from(!byte.is_ascii_whitespace() && !b"\\\"',".contains(&byte));
            }
        }
    }
    longest = longest.max(current);
    longest >= SURELY_KEY || (other == 0 && longest > 0)
}

/// True if a line belongs to a private key in PEM: base64, a header, or nothing.
pub(crate) fn is_key_line(line: &str) -> bool {
    let line = line.trim();
    let is_header =
        ["Proc-Type:", "DEK-Info:", "Comment:", "Version:"].iter().any(|name| line.starts_with(name));
    is_header || line.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// True if a private key begins in the text and does not end.
pub(crate) fn leaves_key_open(text: &str) -> bool {
    let Some(start) = memchr::memmem::rfind(text.as_bytes(), BEGIN.as_bytes()) else { return false };
    let mark = start + BEGIN.len();
    let words = &text[mark..text.floor_char_boundary(mark + MOST_MARK)];
    let Some(label) = words.find(DASHES) else { return false };
    let rest = &text[mark + label + DASHES.len()..];
    is_key_label(&words[..label]) && !rest.contains(DASHES) && rest.lines().all(is_key_line)
}

/// The lines of a PuTTY key, or its MAC.
fn putty(text: &str, end: usize) -> Option<Range<usize>> {
    let line = |from: usize| {
        let rest = &text[from..text.floor_char_boundary(from + MOST_MARK)];
        rest.split_inclusive('\n').next().unwrap_or_default()
    };
    let first = line(end);
    if !first.trim().bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut at = end + first.len();
    loop {
        let next = line(at);
        if next.trim().is_empty() || !next.trim().bytes().all(|byte| Body::Base64.has(byte)) {
            break;
        }
        at += next.len();
    }
    let length = text[end..at].trim_end().len();
    (length > 0).then_some(end..end + length)
}
