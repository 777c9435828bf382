//! From a page's source to its tree, within a time: parsing takes the square of what a hostile page nests.

use std::time::{Duration, Instant};

use dom_query::Document;
use html5ever::{
    ParseOpts, parse_document,
    tendril::{StrTendril, TendrilSink},
    tokenizer::TokenizerOpts,
    tree_builder::TreeBuilderOpts,
};

/// What is parsed between two looks at the clock.
const PIECE: usize = 16 * 1024;
/// The largest page that is read takes a tenth of it.
pub(crate) const ENOUGH: Duration = Duration::from_secs(4);

/// The tree, if it can be had within that time.
pub(crate) fn parse(html: &str, within: Duration) -> Option<Document> {
    let begun = Instant::now();
    // As a browser without scripts sees it.
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tokenizer: TokenizerOpts::default(), tree_builder };
    let mut parser = parse_document(Document::default(), options);
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, further) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from(piece));
        rest = further;
        if begun.elapsed() > within {
            return None;
        }
    }
    Some(parser.finish())
}

/// The words between the tags, for a page that has no tree.
pub(crate) fn words(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let mut out = String::new();
    let mut at = 0;
    while let Some(open) = lower[at..].find('<').map(|found| at + found) {
        out.push_str(&html[at..open]);
        out.push(' ');
        let end = match &lower[open..] {
            tag if tag.starts_with("<script") => "</script",
            tag if tag.starts_with("<style") => "</style",
            tag if tag.starts_with("<!--") => "--",
            _ => "",
        };
        let closed = lower[open + 1..].find(end).map(|found| open + 1 + found);
        let closed = closed.and_then(|from| lower[from..].find('>').map(|found| from + found + 1));
        at = closed.unwrap_or(lower.len());
    }
    out.push_str(&html[at..]);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
