//! Resources of our own: what stays in the model's sight, for clients that show it elsewhere.

use serde_json::value::RawValue;
use tectum_attend::Attention;
use tectum_core::{Anchors, directives::TODO_ANCHOR};

use crate::wire::{Object, raw};

/// The list of what is to do.
const TODO: &str = "tectum://todo";
/// The beginning of an anchor's address; its key follows.
const ANCHORS: &str = "tectum://anchors/";
/// What the address of a session's record begins with; `current` or its name follows.
pub(crate) const SESSIONS: &str = "tectum://sessions/";

/// The beginning of our own addresses.
const OURS: &str = "tectum://";
/// The name of the state of the workspace.
const STATE: &str = "attention/state";
/// The resources about attention: name, title, what each is. Those that do not begin with `attention/` are
/// listed where the optional parts are on, and can always be read.
const ATTENTION: [(&str, &str, &str); 9] = [
    ("attention/focus", "News", "The latest news, what waits, what is pinned and muted."),
    (STATE, "Workspace", "The winner, its broadcast and every organ's standing after the last tick."),
    ("oscillators/state", "Rhythm", "The agent's phase, the organs' phases and how coherent they are."),
    ("consciousness/metrics", "Competition", "The last competition: ignition, winner, share, competitors."),
    ("emotional/state", "Mood", "What is broken and what recovered, weighed by severity."),
    ("homeostasis/drives", "Drives", "The news that the hour still has, energy, and what is set."),
    ("memory/status", "Memory", "The resources, paths and facts that are remembered."),
    ("hardware/health", "Health", "What the process measured of itself: memory, disk, record."),
    ("somatic/feelings", "Feelings", "Organs that cannot be read, and signals that were injected."),
];

/// Our own entries of the lists.
#[derive(Debug, Default)]
pub(super) struct OwnEntries {
    /// Resources.
    pub(super) resources: Vec<String>,
    /// Templates.
    pub(super) templates: Vec<String>,
}

impl OwnEntries {
    /// The anchors that there are; where there are tools of our own, what they keep; where calls are
    /// recorded, the record.
    pub(super) fn list(
        anchors: &Anchors,
        native: bool,
        sessions: bool,
        attention: Option<&Attention>,
    ) -> Self {
        let mut own = Self::default();
        if native {
            own.resources.push(entry(
                "uri",
                TODO,
                "todo",
                "What is to do",
                "The list that todo_write keeps.",
            ));
            let template = format!("{ANCHORS}{{key}}");
            own.templates.push(entry(
                "uriTemplate",
                &template,
                "anchors",
                "Context anchors",
                "A text that tools keep in the model's sight.",
            ));
        }
        if sessions {
            let current = format!("{SESSIONS}current");
            let told = "The calls of this session so far, with their results.";
            own.resources.push(entry("uri", &current, "session", "This session", told));
            let template = format!("{SESSIONS}{{id}}");
            let told = "The calls of a session; of others only if the user allows it.";
            own.templates.push(entry("uriTemplate", &template, "sessions", "Sessions", told));
        }
        if let Some(attention) = attention {
            let all = attention.has_dynamics();
            let listed = ATTENTION.iter().filter(|(name, ..)| all || name.starts_with("attention/"));
            own.resources.extend(listed.map(|(name, title, told)| {
                let address = format!("{OURS}{name}");
                let mut entry = Object::new();
                entry.text("uri", &address).text("name", &name.replace('/', "_")).text("title", title);
                entry.text("description", told).text("mimeType", "application/json").end()
            }));
        }
        for anchor in anchors.all() {
            let title = format!("Context anchor {}", anchor.key);
            own.resources.push(entry(
                "uri",
                &address(&anchor.key),
                &anchor.key,
                &title,
                "Kept in the model's sight.",
            ));
        }
        own
    }
}

fn entry(key: &str, address: &str, name: &str, title: &str, description: &str) -> String {
    Object::new()
        .text(key, address)
        .text("name", name)
        .text("title", title)
        .text("description", description)
        .text("mimeType", "text/plain")
        .end()
}

fn address(key: &str) -> String {
    format!("{ANCHORS}{}", encoded(key))
}

/// One of our own resources as `resources/read` gives it; `None` for any other address.
pub(super) fn read(anchors: &Anchors, uri: &str) -> Option<Result<Box<RawValue>, String>> {
    let text = match uri.strip_prefix(ANCHORS) {
        None if uri == TODO => match anchors.get(TODO_ANCHOR) {
            Some(anchor) => anchor.content,
            None => "No todos.".into(),
        },
        None => return None,
        Some(key) => match decoded(key).and_then(|key| anchors.get(&key)) {
            Some(anchor) => anchor.content,
            None => return Some(Err(format!("no such anchor: {uri}"))),
        },
    };
    Some(Ok(content(uri, "text/plain", &text)))
}

/// A resource about attention; `None` for any other address, and where there is none.
pub(super) fn read_attention(attention: &Attention, uri: &str) -> Option<Box<RawValue>> {
    let name = uri.strip_prefix(OURS)?;
    ATTENTION.iter().find(|(known, ..)| *known == name)?;
    let value = if name == STATE { Some(attention.state()) } else { attention.quantity(name) };
    Some(content(uri, "application/json", &value?.to_string()))
}

/// The addresses that tell of news.
pub(super) fn attention_names() -> Vec<String> {
    ATTENTION.iter().map(|(name, ..)| format!("{OURS}{name}")).collect()
}

/// A text as `resources/read` gives it.
pub(super) fn content(uri: &str, kind: &str, text: &str) -> Box<RawValue> {
    let content = Object::new().text("uri", uri).text("mimeType", kind).text("text", text).end();
    raw(Object::new().raw("contents", &format!("[{content}]")).end())
}

/// The session that an address names; `None` for any other address.
pub(super) fn session_named(uri: &str) -> Option<String> {
    decoded(uri.strip_prefix(SESSIONS)?)
}

/// The addresses that clients know an anchor by.
pub(super) fn names(key: &str) -> Vec<String> {
    let todo = (key == TODO_ANCHOR).then(|| TODO.to_owned());
    std::iter::once(address(key)).chain(todo).collect()
}

/// A text as a part of an address.
pub(super) fn encoded(text: &str) -> String {
    let mut address = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

/// The text that a part of an address stands for.
pub(super) fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, more @ ..] = rest {
        match first {
            b'%' => {
                let hex = more.get(..2).and_then(|hex| std::str::from_utf8(hex).ok())?;
                bytes.push(u8::from_str_radix(hex, 16).ok()?);
                rest = &more[2..];
            }
            plain => {
                bytes.push(*plain);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
