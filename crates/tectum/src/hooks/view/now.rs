//! What happens now, as one answer: the screen *Now*, and what every page begins with before it follows the events.

use axum::{Extension, Json, extract::State};
use serde_json::{Value, json};
use tectum_journal::{index::Query, when};
use tectum_state::Moment;

use super::{
    super::{calls::Flying, hooked::Hooks, house, refusal::Refusal, sign_ins::SessionFacts},
    context, records, servers,
};

/// The errors that are shown.
const MOST_ERRORS: usize = 20;

/// What happens now, before the events that follow
#[utoipa::path(get, path = "/api/console/now", responses(
    (status = 200, description = "The present state, and the last event that is in it", body = Value),
    (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn now(
    State(hooks): State<Hooks>,
    signed_in: Option<Extension<SessionFacts>>,
) -> Result<Json<Value>, Refusal> {
    // First, so that whatever changes meanwhile is told again.
    let last_event = hooks.bus().last().to_string();
    let recorded = records::ask(&hooks, |index| {
        let failed = Query { failed: true, ..Query::default() };
        let errors: Vec<Value> =
            index.search(&failed, MOST_ERRORS)?.hits.iter().map(|hit| records::row(&hit.entry)).collect();
        let last = index.search(&Query::default(), 1)?.hits.pop().map(|hit| records::row(&hit.entry));
        Ok((errors, index.last_session()?, last))
    });
    let (errors, session, last) = recorded.await?.unwrap_or_default();
    // Settings that cannot be read are told on their own screen.
    let servers = servers::told(&hooks).await.unwrap_or_default();
    let calls = hooks.flight().all();
    let questions = hooks.desk().questions();
    let clients = hooks.federation().clients();
    let client = clients.last().map(|(name, version)| json!({ "name": name, "version": version }));
    let asked = questions.first().map(|question| format!("{} {}", question.tool, question.subject));
    Ok(Json(json!({
        "at": when::rfc3339(Moment::micros(std::time::SystemTime::now())),
        "last_event": last_event,
        "house": house::told(&hooks),
        "doing": doing(asked.as_deref(), &calls, last.as_ref()),
        "todo": context::in_progress(&hooks),
        "client": client,
        "session": session.as_ref().map(records::session),
        "calls": calls.iter().map(|call| call.told(hooks.journal())).collect::<Vec<_>>(),
        "questions": questions.iter().map(|question| json!(question)).collect::<Vec<_>>(),
        "servers": servers,
        "errors": errors,
        "may_answer": signed_in.is_some(),
        "terminal": "tectum top",
    })))
}

/// What the agent is working on, as a sentence.
fn doing(asked: Option<&str>, calls: &[Flying], last: Option<&Value>) -> String {
    let about = |tool: &str, subject: &str| match subject {
        "" => tool.to_owned(),
        subject => format!("{tool} {subject}"),
    };
    if let Some(asked) = asked {
        return format!("Waits for your answer: {}", asked.trim());
    }
    if let Some(call) = calls.last() {
        let others = match calls.len() - 1 {
            0 => String::new(),
            1 => ", and one more call".to_owned(),
            more => format!(", and {more} more calls"),
        };
        return format!("Runs {}{others}", about(&call.tool, call.subject.as_deref().unwrap_or_default()));
    }
    match last {
        None => "Nothing yet: no tool was called".to_owned(),
        Some(last) => {
            let text = |member: &str| last[member].as_str().unwrap_or_default();
            format!("Idle; the last call was {}", about(text("tool"), text("subject")))
        }
    }
}
