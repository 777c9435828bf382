//! The form of results for a client: text alone, or text and data; and the length a text may have. One
//! place decides, for lists and answers alike: a client that saw an output schema rejects an answer
//! without data.

use std::borrow::Cow;

use globset::{GlobMatcher, GlobSet};
use serde_json::value::RawValue;

use crate::{
    client_table::ClientFacts,
    wire::{Era, Members, Object, raw},
};

/// The share of a client's longest reply that is kept for what stands around a tool's own text.
const MARGIN: usize = 16;

/// The clients that get structured content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// Those that are not known to hand their results to a model.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// The settings of results for clients.
#[derive(Clone, Debug, Default)]
pub struct ClientForms {
    /// The clients that get structured content.
    pub structured: Structured,
    /// Clients that get text alone, by the name in their `clientInfo`.
    pub text: GlobSet,
    /// Clients that get data as well; these win.
    pub data: GlobSet,
    /// The longest reply of single clients, in characters; the first that fits holds.
    pub reply_chars: Vec<(GlobMatcher, usize)>,
}

/// The form of results for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// True if results carry structured content, and lists output schemas.
    pub data: bool,
    /// The longest text that it takes, in bytes; characters are never more than bytes.
    pub reply: usize,
    /// The longest reply that its list declares, where that makes it take more.
    pub declared: Option<usize>,
    /// Tools of ours that it knows by another name, with that name.
    pub renamed: &'static [(&'static str, &'static str)],
}

impl ClientForms {
    /// The form for a client of this name. `asked` is what its request says itself.
    pub fn form(&self, name: &str, facts: &ClientFacts, asked: Option<bool>) -> Form {
        let named = if self.data.is_match(name) {
            Some(true)
        } else if self.text.is_match(name) {
            Some(false)
        } else {
            None
        };
        let data = asked.or(named).unwrap_or(match self.structured {
            Structured::Auto => !facts.feeds_a_model(),
            Structured::Always => true,
            Structured::Never => false,
        });
        let set = self.reply_chars.iter().find(|(glob, _)| glob.is_match(name)).map(|(_, most)| *most);
        // A program that reads data takes what it always took.
        let bounded = !data || facts.feeds_a_model();
        let reply = set.unwrap_or(if bounded { facts.reply_chars } else { usize::MAX });
        let declared = (facts.big_replies && reply > facts.reply_chars).then_some(reply);
        Form { data, reply, declared, renamed: facts.renamed }
    }
}

impl Form {
    /// The length the text of a tool may have: what is added to it fits as well.
    pub fn room(&self) -> usize {
        self.reply - self.reply.checked_div(MARGIN).filter(|_| self.reply < usize::MAX).unwrap_or(0)
    }

    /// The name by which the client knows a tool of ours, where that is another.
    pub(crate) fn listed_as(&self, name: &str) -> Option<&'static str> {
        self.renamed.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs)
    }

    /// The tool of ours that the client knows by this name alone.
    pub(crate) fn meant(&self, name: &str) -> Option<&'static str> {
        self.renamed.iter().find(|(_, theirs)| *theirs == name).map(|(ours, _)| *ours)
    }

    /// Words of ours about our tools, with the names that the client knows. What has more to it than a
    /// name is a path.
    pub(crate) fn worded<'w>(&self, words: &'w str) -> Cow<'w, str> {
        if self.renamed.iter().all(|(ours, _)| !words.contains(ours)) {
            return Cow::Borrowed(words);
        }
        let known = |word: &str| {
            let name = word.trim().trim_matches(['(', ')', ',', ';', ':', '.']);
            self.listed_as(name).map_or_else(|| word.to_owned(), |theirs| word.replace(name, theirs))
        };
        Cow::Owned(words.split_inclusive(char::is_whitespace).map(known).collect())
    }

    /// A text as long as the client takes it, cut behind a whole line; its first and its last line
    /// say so.
    pub(crate) fn fitted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.len() <= self.reply {
            return Cow::Borrowed(text);
        }
        let whole = text.len();
        let note = |shown: usize| {
            format!("[cut: the first {shown} of {whole} bytes are shown; ask for a smaller part]")
        };
        let room = self.reply.saturating_sub(2 * note(whole).len() + 2);
        let end = text.floor_char_boundary(room);
        let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
        let note = note(end);
        let line = if text[..end].ends_with('\n') { "" } else { "\n" };
        Cow::Owned(format!("{note}\n{}{line}{note}", &text[..end]))
    }

    /// A server's result as this client can take it. What need not change keeps its bytes.
    pub(crate) fn passed<'r>(&self, result: &'r str, era: Era) -> Cow<'r, str> {
        match era {
            _ if !self.data => text_alone(result),
            Era::Legacy => wrapped(result),
            Era::Modern => Cow::Borrowed(result),
        }
    }

    /// A definition of a server's tool as this client should list it.
    pub(crate) fn definition(&self, definition: &str) -> String {
        if self.data && self.declared.is_none() {
            return definition.to_owned();
        }
        let members = Members::of(definition).unwrap_or_default();
        let superfluous = !self.data && members.get("outputSchema").is_some();
        if !superfluous && self.declared.is_none() {
            return definition.to_owned();
        }
        let meta = members.object("_meta").unwrap_or_default();
        let dropped =
            |name: &str| superfluous && name == "outputSchema" || self.declared.is_some() && name == "_meta";
        let mut object = Object::new();
        object.all(&members.keep(|name| !dropped(name)));
        if let Some(most) = self.declared {
            let mut own = Object::new();
            own.all(&meta);
            if meta.get(RESULT_SIZE).is_none() {
                own.raw(RESULT_SIZE, &most.to_string());
            }
            object.raw("_meta", &own.end());
        }
        object.end()
    }
}

/// Under this key in a tool's metadata Claude Code looks for the longest reply.
pub(super) const RESULT_SIZE: &str = "anthropic/maxResultSizeChars";

/// The older era knows objects alone: other data is put into one.
fn wrapped(result: &str) -> Cow<'_, str> {
    let members = Members::of(result).unwrap_or_default();
    let Some(data) = members.get("structuredContent").filter(|data| !data.get().starts_with('{')) else {
        return Cow::Borrowed(result);
    };
    Cow::Owned(match data.get() {
        "null" => Object::new().all(&members.keep(|name| name != "structuredContent")).end(),
        data => members.replaced("structuredContent", &Object::new().raw("result", data).end()),
    })
}

/// A result as text: data goes where its words stand in the text already, and is its text where there
/// is none. A client that prints what it is given of a failure is given nothing of ours.
fn text_alone(result: &str) -> Cow<'_, str> {
    let members = Members::of(result).unwrap_or_default();
    let data = members.get("structuredContent");
    let meta = members.object("_meta").unwrap_or_default();
    let failed = members.get("isError").is_some_and(|flag| flag.get() == "true");
    let printed = failed && meta.0.iter().any(|(name, _)| name.starts_with(OURS));
    if data.is_none() && !printed {
        return Cow::Borrowed(result);
    }
    let content = members.get("content").map_or("[]", RawValue::get);
    let read: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let mut blocks: Vec<&str> = read.iter().map(|block| block.get()).collect();
    let said = blocks.iter().any(|block| says_something(block));
    let told = data.filter(|data| !said && data.get() != "null");
    let told = told.map(|data| Object::new().raw("type", "\"text\"").text("text", data.get()).end());
    if told.is_some() {
        // Nothing is said by a text that is empty.
        blocks.retain(|block| !is_text(block));
    }
    blocks.extend(told.as_deref());
    let content = format!("[{}]", blocks.join(","));
    let theirs = meta.keep(|name| !name.starts_with(OURS));
    let mut object = Object::new();
    if members.get("content").is_none() {
        object.raw("content", &content);
    }
    for (name, value) in &members.0 {
        match &**name {
            "structuredContent" => continue,
            "content" if told.is_some() => object.raw(name, &content),
            "_meta" if printed => {
                if theirs.0.is_empty() {
                    continue;
                }
                object.raw(name, &Object::new().all(&theirs).end())
            }
            _ => object.raw(name, value.get()),
        };
    }
    Cow::Owned(object.end())
}

/// The beginning of the names of our own metadata.
const OURS: &str = "tectum/";

fn is_text(block: &str) -> bool {
    Members::of(block).is_some_and(|block| block.text("type").as_deref() == Some("text"))
}

fn says_something(block: &str) -> bool {
    let block = Members::of(block).unwrap_or_default();
    block.text("type").as_deref() == Some("text")
        && block.text("text").is_some_and(|text| !text.trim().is_empty())
}

/// The bytes that a model would read of a server's result in text alone.
pub(crate) fn text_size(result: &str) -> usize {
    #[derive(serde::Deserialize)]
    struct Read<'r> {
        #[serde(borrow, default)]
        content: Vec<Block<'r>>,
        #[serde(borrow, default, rename = "structuredContent")]
        data: Option<&'r RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Block<'r> {
        #[serde(default)]
        text: Option<String>,
        #[serde(borrow, default)]
        resource: Option<&'r RawValue>,
    }
    let Ok(read) = serde_json::from_str::<Read<'_>>(result) else { return result.len() };
    let text = |block: &Block<'_>| block.text.as_ref().map_or(0, |text| text.len());
    let resource = |block: &Block<'_>| block.resource.map_or(0, |resource| resource.get().len());
    let texts: usize = read.content.iter().map(text).sum();
    let resources: usize = read.content.iter().map(resource).sum();
    resources + if texts > 0 { texts } else { read.data.map_or(0, |data| data.get().len()) }
}

/// A result that has no text, with its data as text: a beginning of it can be shown.
pub(crate) fn with_text(result: Box<RawValue>) -> Box<RawValue> {
    let members = Members::of(result.get()).unwrap_or_default();
    let content = members.get("content").map_or("[]", RawValue::get);
    let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    if blocks.iter().any(|block| says_something(block.get())) {
        return result;
    }
    raw(text_alone(result.get()).into_owned())
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
