//! `get_attention`: the news that this model was not told of yet.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tectum_attend::{Attention, GET_ATTENTION, Line};
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, ToolRole, Wants};

use crate::cards::READS;

/// The event of a client's hook on which only what is urgent is told.
const STOP: &str = "Stop";

/// Tells them.
#[derive(Clone, Debug)]
pub(crate) struct GetAttention(pub(crate) Attention);

/// News not told yet: files changed by others, failing builds, servers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The event of a client's hook that asks: the answer has its form, and at most one line.
    #[serde(default)]
    #[schemars(skip)]
    hook: Option<String>,
}

/// The news.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Each with its id.
    news: Vec<PieceOfNews>,
}

/// One piece of news.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PieceOfNews {
    /// Its id.
    id: String,
    /// What happened.
    sentence: String,
}

impl Tool for GetAttention {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: GET_ATTENTION,
        title: "Get news",
        primary: "",
        deadline: Duration::from_secs(10),
        max_output: 48 * 1024,
        role: ToolRole::Usual,
        idempotent: false,
        ..READS
    };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        if let Some(event) = args.hook {
            let line = self.0.hook_of(&ctx.session.0, event == STOP);
            let text = line.as_ref().map_or_else(|| json!({}), |line| said(&event, line)).to_string();
            return Ok(Reply::new(text, Output { news: line.into_iter().map(PieceOfNews::of).collect() }));
        }
        let lines = self.0.ask(&ctx.session.0);
        let text = if lines.is_empty() {
            "No news.".to_owned()
        } else {
            lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
        };
        Ok(Reply::new(text, Output { news: lines.into_iter().map(PieceOfNews::of).collect() }))
    }
}

impl PieceOfNews {
    fn of(line: Line) -> Self {
        Self { id: line.id, sentence: line.sentence }
    }
}

/// A line as Claude Code takes it from a hook.
fn said(event: &str, line: &Line) -> serde_json::Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": line.text() } })
}
