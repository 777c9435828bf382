//! `tectum pending`, `approve` and `deny`: the questions of all running Tectums, and a person's answers.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    houses::{self, HouseAnswer},
    token,
};

use super::{
    asked::AskedHere,
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, harmless},
    status::{asked, sockets},
};

/// The header that carries the approver's credential.
const APPROVER: &str = "Tectum-Approver";

/// Approve a call that waits.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The question, as `tectum pending` shows it; its first characters suffice
    #[arg(value_name = "ID")]
    id: String,
    /// Approve like calls of this session, too
    #[arg(long, conflicts_with_all = ["project", "args"])]
    session: bool,
    /// Approve like calls in this project from now on, with a rule in your tectum.toml
    #[arg(long, conflicts_with = "args")]
    project: bool,
    /// Run the call with these arguments instead
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Answer a question that is more than yes or no
    #[arg(long, value_name = "JSON", conflicts_with_all = ["session", "project", "args"])]
    response: Option<String>,
}

/// Deny a call that waits.
#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// The question, as `tectum pending` shows it; its first characters suffice
    #[arg(value_name = "ID")]
    id: String,
    /// What the model is told
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Shows the questions that wait. On a screen, each counts as seen.
pub(crate) fn pending(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let questions = waiting(&sockets(shared));
    if screen.json {
        let told: Vec<Value> = questions
            .iter()
            .map(|asked| {
                let mut said = asked.said.clone();
                said["project"] = json!(asked.project);
                said
            })
            .collect();
        return screen.print_json(&json!({ "questions": told }));
    }
    if questions.is_empty() {
        return screen.print("no question waits");
    }
    for asked in &questions {
        screen.print(&shown(asked, screen))?;
        // One that was settled meanwhile needs no clock.
        let _ = tell_shown(asked);
    }
    screen.print("answer with `tectum approve ID` or `tectum deny ID`")
}

impl Approve {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let mut answer = json!({ "decision": "approve" });
        match (self.session, self.project) {
            (true, _) => answer["remember"] = json!("session"),
            (_, true) => answer["remember"] = json!("project"),
            _ => {}
        }
        for (name, text) in [("arguments", &self.args), ("response", &self.response)] {
            if let Some(text) = text {
                answer[name] = parsed(name, text)?;
            }
        }
        give(&self.id, &answer, "approved", shared, screen)
    }
}

impl Deny {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let mut answer = json!({ "decision": "deny" });
        if let Some(reason) = &self.reason {
            answer["reason"] = json!(reason);
        }
        give(&self.id, &answer, "denied", shared, screen)
    }
}

fn parsed(name: &str, text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| {
        let option = if name == "arguments" { "--args" } else { "--response" };
        Fault::invalid(format!("{option} is not JSON: {error}"))
            .hint("quote it for the shell, such as --args '{\"path\": \"a.txt\"}'")
    })
}

fn give(id: &str, answer: &Value, done: &str, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let approver = credential(shared)?;
    let sockets = sockets(shared);
    let (id, places) = match meant(id, waiting(&sockets))? {
        Some(asked) => (asked.id().to_owned(), vec![asked.socket]),
        // A house that settled it knows how.
        None => (id.to_owned(), sockets),
    };
    let mut refused = None;
    for socket in &places {
        match post_answer(socket, &id, answer, &approver) {
            Ok(said) => return tell_done(&id, &said, done, screen),
            // Another house may know it.
            Err(fault) if fault.kind == FaultKind::NotFound => {}
            Err(fault) => refused = Some(fault),
        }
    }
    let unknown =
        || Fault::not_found(format!("no question {id} waits")).hint("`tectum pending` lists those that do");
    Err(refused.unwrap_or_else(unknown).into())
}

fn tell_done(id: &str, said: &Value, done: &str, screen: &Screen) -> Result<(), Failure> {
    let remembered = &said["remembered"];
    let mut sentence = format!("{done} {id}");
    if let Some(problem) = remembered["problem"].as_str() {
        screen.warn(&harmless(problem));
    } else if let Some(rule) = remembered["rule"].as_str() {
        sentence.push_str(&format!(", and from now on: allow {rule}"));
    }
    if let Some(diff) = remembered["diff"].as_str().filter(|diff| !diff.is_empty() && !screen.json) {
        screen.print(&harmless(diff))?;
    }
    screen.done(&json!({ "id": id, "answer": done, "remembered": remembered }), &harmless(&sentence))
}

/// The secret that answers carry.
pub(super) fn credential(shared: &Shared) -> Result<String, Failure> {
    Ok(token::approver(shared.sources(Vec::new()).state.as_deref())?.secret)
}

/// The line of a request that carries it.
pub(super) fn proof(approver: &str) -> String {
    format!("{APPROVER}: {approver}")
}

/// Gives an answer to the house that asks.
pub(super) fn post_answer(socket: &Path, id: &str, answer: &Value, approver: &str) -> Result<Value, Fault> {
    let header = [proof(approver)];
    let path = format!("/api/approvals/{}/answer", spelled(id));
    posted(houses::ask(socket, "POST", &path, &header, Some(answer)))
}

/// Says that a person sees a question.
pub(super) fn tell_shown(asked: &AskedHere) -> Result<Value, Fault> {
    let path = format!("/api/approvals/{}/shown", spelled(asked.id()));
    posted(houses::ask(&asked.socket, "POST", &path, &[], Some(&json!({}))))
}

/// What a house said, or why it refused.
pub(super) fn posted(answered: std::io::Result<HouseAnswer>) -> Result<Value, Fault> {
    let HouseAnswer { status, body } = answered.map_err(|error| {
        Fault::new(FaultKind::Upstream, format!("the Tectum that asks does not answer: {error}"))
            .hint("`tectum status` shows which ones run")
    })?;
    if status == 200 {
        return Ok(body);
    }
    let kind = match status {
        400 => FaultKind::InvalidInput,
        401 | 403 => FaultKind::Permission,
        404 => FaultKind::NotFound,
        409 => FaultKind::Conflict,
        _ => FaultKind::Upstream,
    };
    let error = &body["error"];
    let fault = Fault::new(kind, error["message"].as_str().unwrap_or("it refused the answer"));
    Err(error["hint"].as_str().into_iter().fold(fault, Fault::hint))
}

/// An id as a part of a path.
fn spelled(id: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    id.bytes().map(byte).collect()
}

/// The questions of all houses, those that wait longest first.
pub(super) fn waiting(sockets: &[PathBuf]) -> Vec<AskedHere> {
    let projects = asked("/api/house", sockets);
    let project = |socket: &PathBuf| {
        let house = projects.iter().find(|(known, _)| known == socket).and_then(|(_, house)| house.as_ref());
        house.and_then(|house| house["project"].as_str()).unwrap_or_default().to_owned()
    };
    let mut all: Vec<AskedHere> = Vec::new();
    for (socket, told) in asked("/api/approvals", sockets) {
        let Some(Value::Array(questions)) = told.map(|mut told| told["approvals"].take()) else { continue };
        let project = project(&socket);
        all.extend(questions.into_iter().map(|said| AskedHere {
            socket: socket.clone(),
            project: project.clone(),
            said,
        }));
    }
    all.sort_by_key(|asked| asked.said["asked_at"].as_u64());
    all
}

/// The question that is meant by an id or its beginning.
fn meant(id: &str, questions: Vec<AskedHere>) -> Result<Option<AskedHere>, Fault> {
    if let Some(whole) = questions.iter().find(|asked| asked.id() == id) {
        return Ok(Some(whole.clone()));
    }
    let mut begin: Vec<AskedHere> =
        questions.into_iter().filter(|asked| !id.is_empty() && asked.id().starts_with(id)).collect();
    if begin.len() > 1 {
        let ids: Vec<&str> = begin.iter().map(AskedHere::id).collect();
        return Err(Fault::invalid(format!("{} questions begin with {id}", ids.len()))
            .hint(format!("name one of them in full: {}", ids.join(", "))));
    }
    Ok(begin.pop())
}

fn shown(asked: &AskedHere, screen: &Screen) -> String {
    let head = format!("{}  {}", screen.paint(Colour::Bold, asked.id()), asked.headline());
    let facts = asked.facts().into_iter().map(|line| format!("  {}", screen.paint(Colour::Dim, &line)));
    let preview = asked.preview().into_iter().map(|line| {
        let painted = match line.chars().next() {
            Some('+') => screen.paint(Colour::Green, &line),
            Some('-') => screen.paint(Colour::Red, &line),
            _ => line,
        };
        format!("    {painted}")
    });
    std::iter::once(head).chain(facts).chain(preview).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_enough_where_it_means_one() {
        let asked =
            |id: &str| AskedHere { socket: "/s".into(), project: String::new(), said: json!({ "id": id }) };
        let all = || vec![asked("q1"), asked("q12"), asked("q3")];
        let found = |id: &str| meant(id, all()).map(|asked| asked.map(|asked| asked.id().to_owned()));
        assert_eq!(found("q1").expect("whole"), Some("q1".to_owned()));
        assert_eq!(found("q3").expect("whole"), Some("q3".to_owned()));
        assert_eq!(found("x").expect("none"), None);
        assert_eq!(found("").expect("none"), None);
        assert!(found("q").expect_err("three").hint.expect("advice").contains("q1, q12, q3"));
        assert_eq!(spelled("q1/../é"), "q1%2F%2E%2E%2F%C3%A9");
    }
}
