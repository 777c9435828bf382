//! The forms in which a value can be written, before anybody asks what it is for.

use super::{
    keys::{Key, Shape},
    place::Origin,
    value::quoted,
};

/// A value as it was written, before anybody believed it.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its place.
    pub origin: Origin,
    /// Its form.
    pub form: Form,
}

/// The form a value was written in.
#[derive(Clone, Debug)]
pub enum Form {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// `true` or `false`.
    Flag(bool),
    /// A number that is not whole.
    Fraction(f64),
    /// A list.
    List(Vec<Written>),
    /// Values by name.
    Table(Vec<Field>),
    /// Nothing, which JSON can say.
    Null,
    /// Something no key takes, by its name.
    Other(&'static str),
}

/// One name in a table, and what it holds.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The place of the name.
    pub origin: Origin,
    /// Its value.
    pub value: Written,
}

impl Form {
    /// A time in milliseconds; a bare number is seconds.
    pub(super) fn milliseconds(&self) -> Option<u64> {
        match self {
            Self::Number(seconds) => u64::try_from(*seconds).ok()?.checked_mul(1000),
            // The bound keeps the cast exact.
            Self::Fraction(seconds) if (0.0..1e9).contains(seconds) => {
                Some((seconds * 1000.0).round() as u64)
            }
            Self::Text(text) => {
                let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let factor: u64 = match &text[digits.len()..] {
                    "ms" => 1,
                    "" | "s" => 1000,
                    "m" | "min" => 60 * 1000,
                    "h" => 60 * 60 * 1000,
                    _ => return None,
                };
                digits.trim_end().parse::<u64>().ok()?.checked_mul(factor)
            }
            _ => None,
        }
    }

    /// A size in bytes. Suffixes are powers of 1024.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Number(bytes) => u64::try_from(*bytes).ok(),
            Self::Text(text) => {
                let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let factor: u64 = match &text[digits.len()..] {
                    "" => 1,
                    "k" | "K" | "kB" | "KiB" => 1 << 10,
                    "m" | "M" | "MB" | "MiB" => 1 << 20,
                    "g" | "G" | "GB" | "GiB" => 1 << 30,
                    _ => return None,
                };
                digits.trim_end().parse::<u64>().ok()?.checked_mul(factor)
            }
            _ => None,
        }
    }

    /// A value in an error message about a key. What may hold secrets is not repeated.
    pub(super) fn told(&self, key: &Key) -> String {
        match (&key.shape, self) {
            (Shape::Table, Self::Text(_)) => "a text".into(),
            (Shape::Table, Self::Number(_) | Self::Fraction(_)) => "a number".into(),
            _ => self.described(),
        }
    }

    /// A value in an error message: what it is, and the value itself when that is short.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Text(text) if text.chars().count() <= 40 => format!("the text {}", quoted(text)),
            Self::Text(_) => "a long text".into(),
            Self::Number(number) => format!("the number {number}"),
            Self::Flag(flag) => format!("{flag}"),
            Self::Fraction(number) => format!("the number {number}"),
            Self::List(_) => "a list".into(),
            Self::Table(_) => "a table".into(),
            Self::Null => "null".into(),
            Self::Other(name) => format!("a {name}"),
        }
    }
}
