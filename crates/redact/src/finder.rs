//! Finds secrets in a text, as it is and with its layers of encoding removed.

use std::{ops::Range, sync::LazyLock};

use globset::GlobSet;
use regex::Regex;
use serde::de::IgnoredAny;

use crate::{
    edits::Edit,
    encoded,
    json::{self, Secrets},
    keys::Keys,
    tokens::{self, Tokens},
    unfold::{WRAPPED, unfold},
    view::View,
    words::{self, Words},
};

/// The most layers of encoding; a text with more is hidden whole.
const MOST_LAYERS: usize = 24;
/// The most documents inside each other; deeper ones are read as plain text.
const MOST_DOCUMENTS: u8 = 8;
/// The most layers of base64 inside each other.
const MOST_ENCODED: u8 = 4;

/// What is secret everywhere.
#[derive(Debug)]
struct Tables {
    tokens: Tokens,
    words: Words,
    keys: Keys,
}

/// Made for the first who needs them.
static TABLES: LazyLock<Result<Tables, String>> = LazyLock::new(|| {
    let keys = Keys::new(words::keys().chain(tokens::keys()))?;
    Ok(Tables { tokens: Tokens::new()?, words: Words::new()?, keys })
});

/// The definition of a secret, with the additions of the settings.
#[derive(Debug)]
pub(crate) struct Finder {
    tables: &'static Tables,
    names: GlobSet,
    texts: Option<Regex>,
}

impl Finder {
    pub(crate) fn new(names: GlobSet, texts: Option<Regex>) -> Result<Self, String> {
        let tables = TABLES.as_ref().map_err(Clone::clone)?;
        Ok(Self { tables, names, texts })
    }

    /// True if the settings add nothing.
    pub(crate) fn has_no_additions(&self) -> bool {
        self.names.is_empty() && self.texts.is_none()
    }

    /// True if a name or a rule may find something in a text as it is.
    pub(crate) fn has_key(&self, text: &str) -> bool {
        self.tables.keys.any(text)
    }

    /// Searches a text, and then the same text with one layer after the other removed.
    fn layers(&self, text: &str, encoded: u8, mut give: impl FnMut(Range<usize>)) {
        let mut is_wide = self.layer(text, encoded, &mut give);
        let mut views: Vec<View<'_>> = Vec::new();
        while let Some(view) = unfold(views.last().map_or(text, |view| &view.text), is_wide) {
            views.push(view);
            if views.len() > MOST_LAYERS {
                return give(0..text.len());
            }
            let mut found = Vec::new();
            if let Some(view) = views.last() {
                is_wide = self.layer(&view.text, encoded, &mut |range| found.push(range));
            }
            for view in views.iter().rev() {
                let mut below = Vec::with_capacity(found.len());
                for range in found {
                    view.source(range, |range| below.push(range));
                }
                found = merged(below);
            }
            found.into_iter().for_each(&mut give);
        }
    }

    /// Searches a text as it is. True if it has a word that may be a line of wrapped base64.
    fn layer(&self, text: &str, encoded: u8, give: &mut dyn FnMut(Range<usize>)) -> bool {
        let long = encoded::long_words(text.as_bytes());
        self.long_words(text, &long, encoded, give);
        if self.has_key(text) {
            self.tables.tokens.private_keys(text, &mut *give);
            self.tables.words.find(text, give);
        }
        if let Some(texts) = &self.texts {
            texts.find_iter(text).for_each(|found| give(found.range()));
        }
        long.iter().any(|word| word.len() >= WRAPPED)
    }

    /// Searches the long words of a text.
    pub(crate) fn long_words(
        &self,
        text: &str,
        long: &[Range<usize>],
        encoded: u8,
        give: &mut dyn FnMut(Range<usize>),
    ) {
        self.tables.tokens.find(text, long, &mut *give);
        encoded::discord(text, long, &mut *give);
        if encoded < MOST_ENCODED {
            encoded::texts(text, long, |run, decoded| {
                let mut is_secret = false;
                self.layers(decoded, encoded + 1, |_| is_secret = true);
                if is_secret {
                    give(run);
                }
            });
        }
    }
}

impl Secrets for Finder {
    fn is_secret_name(&self, name: &str) -> bool {
        self.tables.words.is_secret_name(name) || (!self.names.is_empty() && self.names.is_match(name))
    }

    fn leaves_key_open(&self, text: &str) -> bool {
        self.tables.tokens.leaves_key_open(text)
    }

    fn text(&self, text: &str, depth: u8, edits: &mut Vec<Edit>) {
        let is_document = depth < MOST_DOCUMENTS
            && text.trim_start().starts_with(['{', '[', '"'])
            && serde_json::from_str::<IgnoredAny>(text).is_ok();
        let before = edits.len();
        if is_document && json::find(self, text, depth, edits).is_ok() {
            return;
        }
        edits.truncate(before);
        self.layers(text, 0, |range| edits.push(Edit::inside(range)));
    }
}

/// Merges ranges that overlap or touch.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
