//! From a call to its entry, and from an entry with secrets to one without.

use serde_json::value::RawValue;
use tectum_core::{Effect, Fault, NativeReply, Payload, PeerReply, Seen};
use tectum_redact::Redactor;
use tectum_state::Moment;

use crate::{Asked, Client, Ending, Entry, Failure, HookRequest, Record, Verdict};

/// Arguments and results above this are left out, and the entry says so.
const MOST: usize = 4 << 20;
/// Bytes of a request's body that are kept.
const MOST_BODY: usize = 500;
/// The first member of an entry that others can put something into, and the first that only counts.
const WORDS: &str = r#","client":"#;
const NUMBERS: &str = r#","bytes_in":"#;

impl Entry {
    /// The entry of a call as it was, secrets and all. Nothing may be written of it but by
    /// [`Record::written`].
    pub(crate) fn of(seen: Seen<'_>, session: String) -> Self {
        let Seen { call, outcome, trail, tools } = seen;
        let server = tools.tool(&call.tool).and_then(|tool| tool.server.as_ref());
        let took = u64::try_from(outcome.took.as_micros()).unwrap_or(u64::MAX);
        let client = call.client.as_deref();
        let ending = ending(&outcome.result);
        let (bytes_in, bytes_out) = (call.args.get().len(), size(&outcome.result));
        let read = match &outcome.result {
            Ok(Payload::Native(reply)) => reply.text.len(),
            Ok(Payload::Peer(_)) | Err(_) => bytes_out,
        };
        Self {
            id: call.id.to_string(),
            began: Moment::micros(std::time::SystemTime::now()).saturating_sub(took),
            took,
            session,
            client: Client {
                door: client.map_or(&*call.session.0, |client| client.door).to_owned(),
                name: client.map(|client| client.name.clone()).unwrap_or_default(),
                version: client.map(|client| client.version.clone()).unwrap_or_default(),
            },
            tool: call.tool.to_string(),
            server: server.map(|server| server.server.to_string()),
            effect: trail.effect.map(|effect| effect_word(effect).to_owned()),
            args: if bytes_in > MOST { omitted(bytes_in) } else { call.args.clone() },
            verdict: trail
                .judged
                .as_ref()
                .map(|(judgement, rule)| Verdict { judgement: judgement.to_string(), rule: rule.clone() }),
            asked: trail.asked.as_ref().map(|asked| Asked {
                id: asked.id.as_deref().map(ToOwned::to_owned),
                by: asked.by.as_deref().map(ToOwned::to_owned),
                approved: asked.approved,
                waited: u64::try_from(asked.waited.as_micros()).unwrap_or(u64::MAX),
                instead_of: asked.instead_of.as_ref().map(|args| match args.get().len() {
                    bytes if bytes > MOST => omitted(bytes),
                    _ => args.clone(),
                }),
            }),
            paths: outcome.paths.iter().map(|path| path.as_str().to_owned()).collect(),
            sandbox: sandbox(&ending),
            ending,
            directives: match &*outcome.directives {
                [] => None,
                directives => serde_json::value::to_raw_value(directives).ok(),
            },
            bytes_in: bytes_in as u64,
            bytes_out: bytes_out as u64,
            tokens_in: tokens(bytes_in),
            tokens_out: tokens(read),
        }
    }

    /// The same without secrets, in every part that a client, a server or a disk can put one into.
    fn hidden(self, redactor: &Redactor) -> Self {
        let text = |text: String| hidden_text(redactor, text);
        let json = |json: Box<RawValue>| hidden_json(redactor, json);
        let Client { door, name, version } = self.client;
        Self {
            client: Client { door, name: text(name), version: text(version) },
            tool: text(self.tool),
            args: json(self.args),
            verdict: self.verdict.map(|verdict| Verdict { rule: text(verdict.rule), ..verdict }),
            asked: self.asked.map(|asked| Asked { instead_of: asked.instead_of.map(json), ..asked }),
            paths: self.paths.into_iter().map(text).collect(),
            ending: match self.ending {
                Ending::Native { text: said, structured } => {
                    Ending::Native { text: text(said), structured: json(structured) }
                }
                Ending::Peer { json: said, failed } => Ending::Peer { json: json(said), failed },
                Ending::Fault(Failure { kind, message, hint, source }) => Ending::Fault(Failure {
                    kind,
                    message: text(message),
                    hint: hint.map(text),
                    source: source.map(text),
                }),
                omitted @ Ending::Omitted { .. } => omitted,
            },
            directives: self.directives.map(json),
            ..self
        }
    }
}

impl Record {
    /// The record as JSON without secrets, and as it is then. Most calls have none, which is told of the
    /// JSON as a whole.
    pub(crate) fn written(self, redactor: &Redactor) -> serde_json::Result<(Self, String)> {
        let hidden = match self {
            Self::Call(_) => {
                let json = serde_json::to_string(&self)?;
                // Those before are ids of ours; those after are numbers, and some have names like those of
                // secrets.
                let from = json.find(WORDS).unwrap_or_default();
                let told = json.rfind(NUMBERS).unwrap_or(json.len());
                match (redactor.is_quiet(&json[from..told]), self) {
                    (false, Self::Call(entry)) => Self::Call(Box::new(entry.hidden(redactor))),
                    (_, record) => return Ok((record, json)),
                }
            }
            Self::Hook(request) => Self::Hook(request.hidden(redactor)),
            record @ (Self::Start(_) | Self::Gap(_)) => record,
        };
        let json = serde_json::to_string(&hidden)?;
        Ok((hidden, json))
    }
}

impl HookRequest {
    /// A request without secrets, and with the beginning of its body.
    fn hidden(self, redactor: &Redactor) -> Self {
        let mut body = hidden_text(redactor, self.body);
        body.truncate(body.floor_char_boundary(MOST_BODY));
        Self { path: hidden_text(redactor, self.path), body, ..self }
    }
}

fn hidden_text(redactor: &Redactor, text: String) -> String {
    match redactor.text(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(hidden) => hidden,
    }
}

fn hidden_json(redactor: &Redactor, json: Box<RawValue>) -> Box<RawValue> {
    let hidden = redactor.hide(Box::<str>::from(json).into());
    // Hiding leaves JSON what it is; if it ever did not, nothing is kept rather than all.
    RawValue::from_string(hidden).unwrap_or_default()
}

/// What stands for arguments that are left out.
fn omitted(bytes: usize) -> Box<RawValue> {
    let text = format!(r#"{{"omitted":"arguments of {bytes} bytes are not kept"}}"#);
    RawValue::from_string(text).unwrap_or_default()
}

fn ending(result: &Result<Payload, Fault>) -> Ending {
    match result {
        Ok(payload) if payload.size() > MOST => Ending::Omitted { failed: failed(payload) },
        Ok(Payload::Native(NativeReply { text, structured })) => {
            // A tool that writes none has nothing that could be read as data.
            let structured = RawValue::from_string(structured.clone()).unwrap_or_default();
            Ending::Native { text: text.clone(), structured }
        }
        Ok(Payload::Peer(PeerReply { json, failed })) => Ending::Peer { json: json.clone(), failed: *failed },
        Err(fault) => Ending::Fault(Failure {
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
fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// What held a command, if the result is one of a command.
fn sandbox(ending: &Ending) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Holding {
        sandbox: Option<String>,
    }
    let Ending::Native { structured, .. } = ending else { return None };
    // Inside of a string the quotes would be escaped.
    memchr::memmem::find(structured.get().as_bytes(), br#""sandbox":"#)?;
    serde_json::from_str::<Holding>(structured.get()).ok()?.sandbox
}
