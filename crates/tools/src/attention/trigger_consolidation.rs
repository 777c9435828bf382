//! `trigger_consolidation`: forgets what no state has any more, and old news.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::Attention;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// Forgets them.
#[derive(Clone, Debug)]
pub(crate) struct TriggerConsolidation(pub(crate) Attention);

/// Forget what no watched resource has any more, and old news.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Paths of states.
    paths_forgotten: u64,
    /// News that were told.
    news_forgotten: u64,
}

impl Tool for TriggerConsolidation {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card { name: "trigger_consolidation", title: "Forget old news", ..REGULATES };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, _: Args) -> Result<Reply<Output>, Fault> {
        let done = self.0.change(|workspace| workspace.trigger_consolidation());
        let text = format!("{} paths and {} news forgotten.", done.paths_forgotten, done.news_forgotten);
        let (paths_forgotten, news_forgotten) = (done.paths_forgotten, done.news_forgotten);
        Ok(Reply::new(text, Output { paths_forgotten, news_forgotten }))
    }
}
