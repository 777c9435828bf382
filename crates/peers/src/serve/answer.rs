//! The answer to a tool call, in the form that its client takes.

use std::borrow::Cow;

use serde_json::value::RawValue;
use tectum_attend::Line;
use tectum_core::{Fault, FaultKind, Outcome, Payload, PeerReply};

use crate::{
    client::{Form, RoundEnd},
    wire::{
        Era, Members, Object, code,
        frame::{error, open, result, string},
        server_meta,
    },
};

/// The member of structured content with what the model should know, for clients that give it no text.
const NEWS: &str = "attention";

/// The outcome of a tool call in the form that its client takes, with what its round ends with. Nothing
/// for a cancelled one: nobody waits for it. A server's `closed` schema takes no member of ours.
pub(crate) fn outcome(
    out: &mut Vec<u8>,
    id: &str,
    era: Era,
    form: &Form,
    outcome: &Outcome,
    end: &RoundEnd,
    closed: bool,
) {
    let edited = outcome.edited_note();
    let line = end.news.as_ref().map(Line::text);
    let more: Vec<&str> = edited.iter().chain(&end.texts).chain(&line).map(String::as_str).collect();
    let more = &more[..];
    let member = end.news.as_ref().filter(|_| form.data);
    let member = member.map(|line| format!("[{}]", serde_json::to_string(line).unwrap_or_default()));
    match &outcome.result {
        Ok(Payload::Peer(PeerReply { json: raw, .. })) => {
            let passed = form.passed(raw.get(), era);
            let passed =
                member.filter(|_| !closed).and_then(|news| noted(&passed, &news)).map_or(passed, Cow::Owned);
            match longer(&passed, more) {
                Some(longer) => result(out, id, &longer),
                None => result(out, id, &passed),
            }
        }
        Ok(Payload::Native(reply)) => {
            // Room for all of it at once: an escape here and there, and the frame around it.
            out.reserve(reply.text.len() + reply.text.len() / 8 + reply.structured.len() + 1024);
            open(out, id, "result");
            content(out, &form.fitted(&reply.text), more, false);
            if form.data {
                out.extend_from_slice(br#","structuredContent":"#);
                match member.and_then(|news| with_news(&reply.structured, &news)) {
                    Some(noted) => out.extend_from_slice(noted.as_bytes()),
                    None => out.extend_from_slice(reply.structured.as_bytes()),
                }
            }
            close_call(out, era, Some(outcome), None);
        }
        Err(fault) => match (fault.kind, &fault.raw) {
            // A peer's own error is passed on as it wrote it.
            (_, Some(theirs)) => {
                open(out, id, "error");
                out.extend_from_slice(theirs.get().as_bytes());
                out.push(b'}');
            }
            (FaultKind::Cancelled, None) => {}
            (FaultKind::Internal, None) => {
                let data = format!(r#"{{"call":"{}"}}"#, outcome.call);
                tracing::error!(call = %outcome.call, fault = %fault, source = ?fault.source, "a tool failed inside");
                error(out, Some(id), code::INTERNAL, &fault.message, Some(&data));
            }
            _ => {
                open(out, id, "result");
                content(out, &form.fitted(&form.worded(&fault.text())), more, true);
                // Some clients print all that comes with an error, and their models read it.
                let told = Some((outcome, fault)).filter(|_| form.data);
                close_call(out, era, told.map(|told| told.0), told.map(|told| told.1));
            }
        },
    }
}

/// The answer to a call that this house knows nothing of but that it failed.
pub(crate) fn fault(out: &mut Vec<u8>, id: &str, era: Era, fault: &Fault) {
    open(out, id, "result");
    content(out, &fault.text(), &[], true);
    close_call(out, era, None, Some(fault));
}

/// The answer that a client of the older era gets to a call, for people who want to see it.
pub fn answered(outcome: &Outcome, form: &Form) -> String {
    let mut out = Vec::new();
    self::outcome(&mut out, "1", Era::Legacy, form, outcome, &RoundEnd::default(), false);
    String::from_utf8(out).unwrap_or_default()
}

fn content(out: &mut Vec<u8>, text: &str, more: &[&str], is_error: bool) {
    out.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    string(out, text);
    for text in more {
        out.extend_from_slice(br#"},{"type":"text","text":"#);
        string(out, text);
    }
    out.extend_from_slice(if is_error { br#"}],"isError":true"# } else { br#"}],"isError":false"# });
}

/// A server's result with the member in its structured content; `None` where it has none of its own.
fn noted(raw: &str, news: &str) -> Option<String> {
    let members = Members::of(raw)?;
    let data = with_news(members.get("structuredContent")?.get(), news)?;
    Some(members.replaced("structuredContent", &data))
}

/// Structured content with the member; `None` for what is no object, or has such a member.
fn with_news(data: &str, news: &str) -> Option<String> {
    let members = Members::of(data).filter(|members| members.get(NEWS).is_none())?;
    Some(Object::new().all(&members).raw(NEWS, news).end())
}

/// A server's result with further texts at the end of its content; `None` where there are none, or
/// no content they could stand in.
fn longer(raw: &str, more: &[&str]) -> Option<String> {
    if more.is_empty() {
        return None;
    }
    let members = Members::of(raw)?;
    let blocks: Vec<&RawValue> = serde_json::from_str(members.get("content")?.get()).ok()?;
    let added = more.iter().map(|text| Object::new().raw("type", "\"text\"").text("text", text).end());
    let blocks: Vec<String> = blocks.iter().map(|block| block.get().to_owned()).chain(added).collect();
    Some(members.replaced("content", &format!("[{}]", blocks.join(","))))
}

/// Ends the result of a call, with what is told beside it.
fn close_call(out: &mut Vec<u8>, era: Era, outcome: Option<&Outcome>, fault: Option<&Fault>) {
    let mut meta = Object::new();
    if let Some(outcome) = outcome {
        meta.text("tectum/call", &outcome.call.to_string());
    }
    if let Some(fault) = fault {
        meta.raw("tectum/fault", &serde_json::to_string(&fault.kind).unwrap_or_default());
    }
    if let Some(outcome) = outcome {
        if let Some(edited) = &outcome.edited {
            meta.raw("tectum/edited", edited.get());
        }
        if !outcome.directives.is_empty() {
            let directives = serde_json::to_string(&outcome.directives).unwrap_or_default();
            meta.raw("tectum/directives", &directives);
        }
    }
    if era == Era::Modern {
        out.extend_from_slice(br#","resultType":"complete""#);
        let (key, info) = server_meta();
        meta.raw(key, &info);
    }
    if outcome.is_some() || fault.is_some() || era == Era::Modern {
        out.extend_from_slice(br#","_meta":"#);
        out.extend_from_slice(meta.end().as_bytes());
    }
    out.extend_from_slice(b"}}");
}
