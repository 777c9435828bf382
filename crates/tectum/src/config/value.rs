//! A value that fits its key, and text as TOML writes it.

use std::borrow::Cow;

use tectum_peers::visible::visible;

use super::place::Origin;

/// A value that fits its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A count, a size in bytes, or a time in milliseconds.
    Number(u64),
    /// A word or an address.
    Word(String),
    /// Texts, each with the place it was written.
    List(Vec<Item>),
    /// Texts by name, each with its place.
    Table(Vec<(String, Item)>),
}

/// One text of a list. Paths are absolute here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The text.
    pub text: String,
    /// The place where it was written.
    pub origin: Origin,
}

/// Text as TOML would write it.
pub(crate) fn quoted(text: &str) -> String {
    if matches!(visible(text), Cow::Borrowed(_)) {
        return toml::Value::from(text).to_string();
    }
    // What nobody sees has another spelling.
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || matches!(visible(c.encode_utf8(&mut [0; 4])), Cow::Owned(_)) => {
                out.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
