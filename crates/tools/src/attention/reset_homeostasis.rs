//! `reset_homeostasis`: energy, habituation and what was adjusted, as at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::Attention;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// Resets them.
#[derive(Clone, Debug)]
pub(crate) struct ResetHomeostasis(pub(crate) Attention);

/// Forget which news you are used to, and what was adjusted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// What holds now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The drives after it.
    drives: serde_json::Value,
}

impl Tool for ResetHomeostasis {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card { name: "reset_homeostasis", title: "Reset attention", ..REGULATES };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, _: Args) -> Result<Reply<Output>, Fault> {
        let drives = self.0.change(|workspace| {
            workspace.reset_homeostasis();
            workspace.quantities().homeostasis_drives
        });
        Ok(Reply::new(format!("As at the start: {drives}"), Output { drives }))
    }
}
