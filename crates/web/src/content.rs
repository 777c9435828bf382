//! What a body is: a page, text, or what is named and not shown.

use serde::{Deserialize, Serialize};

/// In which form a page is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// What is there to read, with headings, links and code.
    #[default]
    Markdown,
    /// The same as words alone.
    Text,
    /// The text as it came, markup and all.
    Raw,
}

impl Format {
    /// What a server is asked for.
    pub fn accept(self) -> &'static str {
        match self {
            Self::Markdown => {
                "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5"
            }
            Self::Text => "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.5",
            Self::Raw => "*/*",
        }
    }
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Text,
    Binary,
    /// The header says nothing; the bytes must.
    Unknown,
}

/// Types that are text although they are not named so.
const TEXTUAL: &[&str] = &[
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/sql",
    "application/graphql",
    "application/x-sh",
    "application/x-ndjson",
    "application/rtf",
    "image/svg+xml",
    "message/rfc822",
];

impl Kind {
    /// By a content type.
    pub(crate) fn named(content_type: &str) -> Self {
        let name = essence(content_type);
        match &*name {
            "" | "application/octet-stream" | "application/x-download" | "binary/octet-stream" => {
                Self::Unknown
            }
            "text/html" | "application/xhtml+xml" => Self::Html,
            name if name.starts_with("text/") || TEXTUAL.contains(&name) => Self::Text,
            name if name.ends_with("+json") || name.ends_with("+xml") || name.ends_with("+yaml") => {
                Self::Text
            }
            _ => Self::Binary,
        }
    }

    /// By the bytes as well: a type says nothing about a body that is none.
    pub(crate) fn of(content_type: Option<&str>, bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(8 * 1024)];
        let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if head.starts_with(b"%PDF-") || (head.contains(&0) && !marked) {
            return Self::Binary;
        }
        match content_type.map_or(Self::Unknown, Self::named) {
            Self::Unknown if is_page(head) => Self::Html,
            // Most of what claims nothing is a program's output; bytes that are no text are told by the loss.
            Self::Unknown if marked || readable(head) => Self::Text,
            Self::Unknown => Self::Binary,
            known => known,
        }
    }
}

/// A content type without its parameters.
pub(crate) fn essence(content_type: &str) -> String {
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // It is shown to people and models: what is no type is not repeated.
    let fits = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
    if name.len() <= 100 && name.chars().all(fits) { name } else { String::new() }
}

fn is_page(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&head[..head.len().min(256)]).trim_start().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

/// UTF-8, but for a character that the end cuts.
fn readable(head: &[u8]) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}
