//! The directives that a server's result carries. Nothing vanishes silently: an entry that cannot be
//! understood is named to whoever reads.

use serde::Deserialize;
use serde_json::value::RawValue;
use tectum_core::{
    Directive,
    directives::{Cause, Skipped},
};

/// The member of a result that carries directives in the form of earlier programs.
const MEMBER: &str = "_directives";
/// The member of `_meta` that carries them in results of our own kind.
const META: &str = "tectum/directives";
/// Entries of one result that are read; the rest is named as left out.
const MOST: usize = 64;

/// The directives of a result in their order, and those that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CarriedDirectives {
    /// Those that were understood.
    pub(super) directives: Vec<Directive>,
    /// Those that were not, or are not allowed.
    pub(super) skipped: Vec<Skipped>,
}

impl CarriedDirectives {
    /// The directives of a list; none for anything but a list.
    fn in_list(list: &str) -> Self {
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(list) else { return Self::default() };
        let mut found = Self::default();
        for (i, entry) in entries.iter().take(MOST).enumerate() {
            match Directive::read(entry.get()) {
                Ok(directive) => found.directives.push(directive),
                Err(why) => {
                    found.skipped.push(Skipped::one(Cause::NotUnderstood, format!("directive {i}: {why}")));
                }
            }
        }
        if entries.len() > MOST {
            let count = entries.len() - MOST;
            let words = format!("{count} directives beyond the first {MOST}");
            found.skipped.push(Skipped { cause: Cause::TooMany, count: count as u64, words });
        }
        found
    }

    /// The directives of an object's own member; none for text that is no JSON object.
    fn in_object(text: &str) -> Self {
        #[derive(Deserialize)]
        struct CarriedText<'c> {
            #[serde(borrow, rename = "_directives")]
            directives: Option<&'c RawValue>,
        }
        if memchr::memmem::find(text.as_bytes(), MEMBER.as_bytes()).is_none() {
            return Self::default();
        }
        let carrier = serde_json::from_str::<CarriedText<'_>>(text).ok();
        carrier
            .and_then(|carrier| carrier.directives)
            .map(|list| Self::in_list(list.get()))
            .unwrap_or_default()
    }

    /// The directives in the result of an MCP tool: in its metadata, its structured content, and in the
    /// texts that are JSON objects. The first place that has any is the one that counts, since a server
    /// writes the same into both.
    pub(super) fn in_result(result: &str) -> Self {
        #[derive(Deserialize)]
        struct CarryingResult<'r> {
            #[serde(borrow, rename = "_meta")]
            meta: Option<CarryingMeta<'r>>,
            #[serde(borrow, rename = "structuredContent")]
            structured: Option<&'r RawValue>,
            #[serde(borrow, default)]
            content: Vec<&'r RawValue>,
        }
        #[derive(Deserialize)]
        struct CarryingMeta<'m> {
            #[serde(borrow, rename = "tectum/directives")]
            directives: Option<&'m RawValue>,
        }
        #[derive(Deserialize)]
        struct CarryingBlock {
            text: String,
        }
        let has = |word: &str| memchr::memmem::find(result.as_bytes(), word.as_bytes()).is_some();
        if !has(MEMBER) && !has(META) {
            return Self::default();
        }
        let Ok(result) = serde_json::from_str::<CarryingResult<'_>>(result) else { return Self::default() };
        let in_meta = result.meta.and_then(|meta| meta.directives).map(|list| Self::in_list(list.get()));
        let in_data = || result.structured.map(|data| Self::in_object(data.get()));
        let in_texts = || {
            let texts =
                result.content.iter().filter_map(|raw| serde_json::from_str::<CarryingBlock>(raw.get()).ok());
            let mut all = Self::default();
            for found in texts.map(|block| Self::in_object(&block.text)) {
                all.directives.extend(found.directives);
                all.skipped.extend(found.skipped);
            }
            all
        };
        let some = |found: &Self| *found != Self::default();
        in_meta.filter(some).or_else(|| in_data().filter(some)).unwrap_or_else(in_texts)
    }

    /// Leaves out what its sender may not ask for.
    pub(super) fn only(mut self, allowed: &[String]) -> Self {
        let (kept, refused): (Vec<Directive>, Vec<Directive>) =
            self.directives.into_iter().partition(|one| allowed.iter().any(|name| name == one.name()));
        self.directives = kept;
        let say = |one: &Directive| {
            let words = format!("`{}` is not allowed from this server", one.name());
            Skipped::one(Cause::NotAllowed, words)
        };
        self.skipped.extend(refused.iter().map(say));
        self
    }
}

#[cfg(test)]
#[path = "directives_tests.rs"]
mod tests;
