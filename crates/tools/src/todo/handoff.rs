//! `handoff`: ends one's own part and lets another tier go on.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Directive, Effect, Fault, Reply, Role, Subject, Tool, Wants};

use super::list::{TodoChange, TodoStatus, Todos, directives};
use crate::cards::CHANGES;

/// Hands over.
#[derive(Clone, Debug)]
pub struct Handoff {
    /// The list of the agent.
    pub todos: Arc<Todos>,
    /// The tiers that work can be handed over to.
    pub tiers: Vec<String>,
}

/// Hand the work over to another tier and end your part; clears your own todos.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    target_tier: String,
    #[serde(default)]
    reason: String,
    /// What it should know.
    #[serde(default)]
    context: String,
}

/// What was handed over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The tier that goes on.
    pub target_tier: String,
    /// Own todos that were not done.
    pub unfinished: Vec<String>,
}

impl Tool for Handoff {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "handoff",
        title: "Hand over",
        effect: Effect::Add,
        primary: "target_tier",
        deadline: Duration::from_secs(10),
        max_output: 64 * 1024,
        ..CHANGES
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.target_tier.clone()), paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let Args { target_tier, reason, context } = args;
        let items = self.todos.items();
        let mut errors = Vec::new();
        if !self.tiers.contains(&target_tier) {
            errors.push(format!("there is no tier `{target_tier}`; known: {}", self.tiers.join(", ")));
        }
        if !items.is_empty() && items.iter().all(|item| item.target_tier.is_none()) {
            errors.push(
                "no todo has a `target_tier`: say with todo_write what the other tier should do".to_owned(),
            );
        }
        if !errors.is_empty() {
            return Err(Fault::invalid(format!("nothing was handed over:\n{}", errors.join("\n")))
                .hint("mend it and call handoff again"));
        }
        let own =
            items.iter().filter(|item| item.target_tier.is_none() && item.status != TodoStatus::Completed);
        let unfinished: Vec<String> = own.map(|item| item.content.clone()).collect();
        let left =
            self.todos.change(TodoChange::ClearOwn).map_err(|errors| Fault::internal(errors.join("; ")))?;
        let mut asked = directives(&left);
        if !context.trim().is_empty() {
            asked.push(Directive::InjectContext { content: context, role: Role::User });
        }
        asked.push(Directive::TierChange { target_tier: target_tier.clone(), reason });
        asked.push(Directive::StopProcessing);
        let mut text = format!("Handed over to {target_tier}.");
        if !unfinished.is_empty() {
            text.push_str(&format!("\nWarning: your own todos were not done: {}", unfinished.join("; ")));
        }
        Ok(Reply { directives: asked, ..Reply::new(text, Output { target_tier, unfinished }) })
    }
}
