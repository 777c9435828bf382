//! From a call to the line of its record: borrowed from the call as far as possible, because this is done
//! while a client waits, and written only without secrets.

use std::{borrow::Cow, fmt::Write as _, ops::Range, sync::Arc, time::SystemTime};

use serde::Serialize;
use serde_json::value::RawValue;
use tectum_core::{
    Call, CallId, Client as Caller, Effect, Fault, Judgement, NativeReply, Payload, PeerReply, Seen,
    SessionId,
};
use tectum_redact::Redactor;
use tectum_state::Moment;

use crate::{Asked, Client, Failure, HookRequest, Verdict, line, twice};

/// Arguments and results above this are left out, and the entry says so.
const MOST: usize = 4 << 20;
/// Bytes of a request's body that are kept.
const MOST_BODY: usize = 500;
/// Room for the members of an entry whose size is not known beforehand.
const MEMBERS: usize = 640;

/// What most calls share with the call before, as members of an entry, without secrets.
#[derive(Debug, Default)]
pub(crate) struct SharedMembers {
    who: Option<(SessionId, Option<Arc<Caller>>, Arc<str>)>,
    verdict: Option<(Judgement, String, Arc<str>)>,
}

impl SharedMembers {
    /// The conversation of a call, which has this name in the journal, and its client.
    fn who(&mut self, call: &Call, name: impl FnOnce(&SessionId) -> String, redactor: &Redactor) -> Arc<str> {
        if let Some((session, client, json)) = &self.who
            && (session, client) == (&call.session, &call.client)
        {
            return json.clone();
        }
        let client = call.client.as_deref();
        let text = |text: &str| redactor.text(text).into_owned();
        let about = Client {
            door: client.map_or(&*call.session.0, |client| client.door).to_owned(),
            name: client.map(|client| text(&client.name)).unwrap_or_default(),
            version: client.map(|client| text(&client.version)).unwrap_or_default(),
        };
        let session = name(&call.session);
        let json: Arc<str> = format!(r#""session":{},"client":{}"#, json(&session), json(&about)).into();
        self.who = Some((call.session.clone(), call.client.clone(), json.clone()));
        json
    }

    /// The verdict of the rules.
    fn verdict(&mut self, (judgement, rule): &(Judgement, String), redactor: &Redactor) -> Arc<str> {
        if let Some((known, by, json)) = &self.verdict
            && (known, by) == (judgement, rule)
        {
            return json.clone();
        }
        let verdict = Verdict { judgement: judgement.to_string(), rule: redactor.text(rule).into_owned() };
        let json: Arc<str> = format!(r#","verdict":{}"#, json(&verdict)).into();
        self.verdict = Some((*judgement, rule.clone(), json.clone()));
        json
    }
}

/// A call as it was, secrets and all, on its way to [`Draft::line`]. Its members are those of an
/// [`Entry`](crate::Entry).
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    id: CallId,
    began: u64,
    took: u64,
    who: Arc<str>,
    verdict: Option<Arc<str>>,
    server: Option<String>,
    effect: Option<&'static str>,
    asked: Option<Asked>,
    /// The arguments that it came with, if a person put others in their place: a member of `asked`.
    instead_of: Option<Cow<'a, str>>,
    tool: Cow<'a, str>,
    args: Cow<'a, str>,
    paths: Vec<Cow<'a, str>>,
    ending: DraftEnding<'a>,
    directives: Option<Cow<'a, str>>,
    sandbox: Option<String>,
    bytes: (usize, usize),
    tokens: (u64, u64),
}

#[derive(Debug)]
enum DraftEnding<'a> {
    Native {
        text: Cow<'a, str>,
        structured: Cow<'a, str>,
        /// The place of the text in the data, if it is a string there.
        place: Option<Range<usize>>,
    },
    Peer {
        json: Cow<'a, str>,
        failed: bool,
    },
    Fault(Failure),
    Omitted {
        failed: bool,
    },
}

impl<'a> Draft<'a> {
    /// The draft of a call whose conversation has this name in the journal.
    pub(crate) fn of(
        seen: Seen<'a>,
        name: impl FnOnce(&SessionId) -> String,
        known: &mut SharedMembers,
        redactor: &Redactor,
    ) -> Self {
        let Seen { call, outcome, trail, tools } = seen;
        let server = tools.tool(&call.tool).and_then(|tool| tool.server.as_ref());
        let took = u64::try_from(outcome.took.as_micros()).unwrap_or(u64::MAX);
        let (bytes_in, bytes_out) = (call.args.get().len(), size(&outcome.result));
        let read = match &outcome.result {
            Ok(Payload::Native(reply)) => reply.text.len(),
            Ok(Payload::Peer(_)) | Err(_) => bytes_out,
        };
        let ending = ending(&outcome.result);
        Self {
            id: call.id,
            began: Moment::micros(SystemTime::now()).saturating_sub(took),
            took,
            who: known.who(call, name, redactor),
            verdict: trail.judged.as_ref().map(|judged| known.verdict(judged, redactor)),
            server: server.map(|server| server.server.to_string()),
            effect: trail.effect.map(effect_word),
            asked: trail.asked.as_ref().map(|asked| Asked {
                id: asked.id.as_deref().map(ToOwned::to_owned),
                by: asked.by.as_deref().map(ToOwned::to_owned),
                approved: asked.approved,
                waited: u64::try_from(asked.waited.as_micros()).unwrap_or(u64::MAX),
                instead_of: None,
            }),
            instead_of: trail.asked.as_ref().and_then(|asked| asked.instead_of.as_deref()).map(arguments),
            tool: Cow::Borrowed(&call.tool),
            args: arguments(&call.args),
            paths: outcome.paths.iter().map(|path| path.as_str().into()).collect(),
            directives: match &*outcome.directives {
                [] => None,
                directives => Some(json(directives).into()),
            },
            sandbox: sandbox(&ending),
            ending,
            bytes: (bytes_in, bytes_out),
            tokens: (tokens(bytes_in), tokens(read)),
        }
    }

    /// The line of the record, without secrets. Most calls have none, which is told of all parts at once.
    pub(crate) fn line(self, redactor: &Redactor) -> String {
        let (line, told) = self.written();
        if redactor.is_quiet(&line[told]) { line } else { self.hidden(redactor).written().0 }
    }

    /// The line as it is, and the part of it that a client, a server or a disk can put a secret into. The
    /// members after it are numbers, and some have names like those of secrets.
    fn written(&self) -> (String, Range<usize>) {
        let Self { id, began, took, who, .. } = self;
        let mut out = line::begun(MEMBERS + self.args.len() + self.ending.size());
        // Writing to a string does not fail.
        let _ = write!(out, r#"{{"call":{{"id":"{id}","began":{began},"took":{took},{who}"#);
        out.push_str(self.verdict.as_deref().unwrap_or_default());
        let _ = self.effect.map(|effect| write!(out, r#","effect":"{effect}""#));
        let _ = self.server.as_ref().map(|server| write!(out, r#","server":{}"#, json(server)));
        let from = out.len();
        if let Some(asked) = &self.asked {
            let _ = write!(out, r#","asked":{}"#, json(asked));
            if let Some(args) = &self.instead_of {
                out.truncate(out.len() - 1);
                let _ = write!(out, r#","instead_of":{args}}}"#);
            }
        }
        out.push_str(r#","tool":"#);
        string(&mut out, &self.tool);
        out.push_str(r#","args":"#);
        out.push_str(&self.args);
        for (number, path) in self.paths.iter().enumerate() {
            out.push_str(if number == 0 { r#","paths":["# } else { "," });
            string(&mut out, path);
        }
        out.push_str(if self.paths.is_empty() { r#","ending":"# } else { r#"],"ending":"# });
        self.ending.write(&mut out);
        let _ = self.directives.as_ref().map(|directives| write!(out, r#","directives":{directives}"#));
        let _ = self.sandbox.as_ref().map(|sandbox| write!(out, r#","sandbox":{}"#, json(sandbox)));
        let told = from..out.len();
        let ((bytes_in, bytes_out), (tokens_in, tokens_out)) = (self.bytes, self.tokens);
        let _ = write!(
            out,
            r#","bytes_in":{bytes_in},"bytes_out":{bytes_out},"tokens_in":{tokens_in},"tokens_out":{tokens_out}}}}}"#
        );
        (out, told)
    }

    /// The same without secrets.
    fn hidden(self, redactor: &Redactor) -> Self {
        let text = |text: Cow<'a, str>| if_other(redactor.text(&text)).map_or(text, Cow::Owned);
        let json = |json: Cow<'a, str>| if_other(redactor.json(&json)).map_or(json, Cow::Owned);
        self.with(&text, &json)
    }

    /// The same, borrowed from nobody.
    pub(crate) fn owned(self) -> Draft<'static> {
        let own = |part: Cow<'a, str>| Cow::Owned(part.into_owned());
        self.with(&own, &own)
    }

    /// The same with other texts and other JSON in every part that is not our own.
    fn with<'b>(
        self,
        text: &impl Fn(Cow<'a, str>) -> Cow<'b, str>,
        json: &impl Fn(Cow<'a, str>) -> Cow<'b, str>,
    ) -> Draft<'b> {
        Draft {
            id: self.id,
            began: self.began,
            took: self.took,
            who: self.who,
            verdict: self.verdict,
            server: self.server,
            effect: self.effect,
            asked: self.asked,
            instead_of: self.instead_of.map(json),
            tool: text(self.tool),
            args: json(self.args),
            paths: self.paths.into_iter().map(text).collect(),
            ending: self.ending.with(text, json),
            directives: self.directives.map(json),
            sandbox: self.sandbox.map(|sandbox| text(sandbox.into()).into_owned()),
            bytes: self.bytes,
            tokens: self.tokens,
        }
    }
}

impl<'a> DraftEnding<'a> {
    fn size(&self) -> usize {
        match self {
            Self::Native { text, structured, place: None } => text.len() + structured.len(),
            Self::Native { structured: json, .. } | Self::Peer { json, .. } => json.len(),
            Self::Fault(_) | Self::Omitted { .. } => 0,
        }
    }

    fn write(&self, out: &mut String) {
        // Writing to a string does not fail.
        let _ = match self {
            Self::Native { text, structured, place } => {
                out.push_str(r#"{"native":{"structured":"#);
                out.push_str(structured);
                match place {
                    Some(Range { start, end }) => write!(out, r#","text_at":[{start},{end}]}}}}"#),
                    None => {
                        out.push_str(r#","text":"#);
                        string(out, text);
                        write!(out, "}}}}")
                    }
                }
            }
            Self::Peer { json, failed: false } => write!(out, r#"{{"peer":{{"json":{json}}}}}"#),
            Self::Peer { json, .. } => write!(out, r#"{{"peer":{{"json":{json},"failed":true}}}}"#),
            Self::Fault(failure) => write!(out, r#"{{"fault":{}}}"#, json(failure)),
            Self::Omitted { failed: false } => write!(out, r#"{{"omitted":{{}}}}"#),
            Self::Omitted { .. } => write!(out, r#"{{"omitted":{{"failed":true}}}}"#),
        };
    }

    fn with<'b>(
        self,
        text: &impl Fn(Cow<'a, str>) -> Cow<'b, str>,
        json: &impl Fn(Cow<'a, str>) -> Cow<'b, str>,
    ) -> DraftEnding<'b> {
        let own = |part: String| text(part.into()).into_owned();
        match self {
            Self::Native { text: said, structured, place } => {
                let before = place.is_some().then(|| structured.clone());
                let structured = json(structured);
                // Data in which something was hidden may have the text elsewhere.
                let place = place.filter(|_| before.as_deref() == Some(&structured));
                // A text that stands in the data is not written.
                let said = if place.is_some() { Cow::default() } else { said };
                DraftEnding::Native { text: text(said), structured, place }
            }
            Self::Peer { json: said, failed } => DraftEnding::Peer { json: json(said), failed },
            Self::Fault(Failure { kind, message, hint, source }) => DraftEnding::Fault(Failure {
                kind,
                message: own(message),
                hint: hint.map(own),
                source: source.map(own),
            }),
            Self::Omitted { failed } => DraftEnding::Omitted { failed },
        }
    }
}

impl HookRequest {
    /// A request without secrets, and with the beginning of its body.
    pub(crate) fn hidden(self, redactor: &Redactor) -> Self {
        let mut body = redactor.text(&self.body).into_owned();
        body.truncate(body.floor_char_boundary(MOST_BODY));
        Self { path: redactor.text(&self.path).into_owned(), body, ..self }
    }
}

/// The text, if it is another than the one that was given.
fn if_other(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(other) => Some(other),
    }
}

/// Appends a string of JSON.
fn string(out: &mut String, text: &str) {
    // Told for all bytes at once, which is several times faster than one after the other.
    let is_special = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    if text.bytes().fold(false, |any, byte| any | is_special(byte)) {
        return out.push_str(&json(text));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// JSON of a value of ours, which has only texts for keys and so can be written.
fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// Arguments as they are kept.
fn arguments(args: &RawValue) -> Cow<'_, str> {
    match args.get().len() {
        bytes if bytes > MOST => format!(r#"{{"omitted":"arguments of {bytes} bytes are not kept"}}"#).into(),
        _ => args.get().into(),
    }
}

fn ending(result: &Result<Payload, Fault>) -> DraftEnding<'_> {
    match result {
        Ok(payload) if payload.size() > MOST => DraftEnding::Omitted { failed: failed(payload) },
        Ok(Payload::Native(NativeReply { text, structured })) => {
            // A tool that writes none has nothing that could be read as data.
            let structured = if structured.is_empty() { "null" } else { structured };
            let place = twice::place(text, structured);
            DraftEnding::Native { text: text.into(), structured: structured.into(), place }
        }
        Ok(Payload::Peer(PeerReply { json, failed })) => {
            DraftEnding::Peer { json: json.get().into(), failed: *failed }
        }
        Err(fault) => DraftEnding::Fault(Failure {
            kind: kind(fault),
            message: fault.message.clone(),
            hint: fault.hint.clone(),
            source: fault.source.as_ref().map(ToString::to_string).filter(|source| !source.is_empty()),
        }),
    }
}

fn failed(payload: &Payload) -> bool {
    matches!(payload, Payload::Peer(PeerReply { failed: true, .. }))
}

/// The kind of a fault, as it is written everywhere.
fn kind(fault: &Fault) -> String {
    match serde_json::to_value(fault.kind) {
        Ok(serde_json::Value::String(kind)) => kind,
        Ok(_) | Err(_) => "internal".into(),
    }
}

fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Add => "add",
        Effect::Change => "change",
    }
}

fn size(result: &Result<Payload, Fault>) -> usize {
    match result {
        Ok(payload) => payload.size(),
        Err(fault) => fault.message.len() + fault.hint.as_ref().map_or(0, String::len),
    }
}

/// About how many tokens a text of this many bytes has: a rule of thumb for English and JSON.
pub fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// What held a command, if the result is one of a command.
fn sandbox(ending: &DraftEnding<'_>) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Holding {
        sandbox: Option<String>,
    }
    let DraftEnding::Native { structured, .. } = ending else { return None };
    // Inside of a string the quotes would be escaped.
    memchr::memmem::find(structured.as_bytes(), br#""sandbox":"#)?;
    serde_json::from_str::<Holding>(structured).ok()?.sandbox
}
