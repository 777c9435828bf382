//! `adjust_coherence_target`: how closely the organs' rhythms follow the agent's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::Attention;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// Sets it.
#[derive(Clone, Debug)]
pub(crate) struct AdjustCoherenceTarget(pub(crate) Attention);

/// Set how closely the rhythm of news follows yours: 0 to 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    target: f64,
}

/// What is set now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The target within its bounds.
    target: f64,
}

impl Tool for AdjustCoherenceTarget {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card { name: "adjust_coherence_target", title: "Set coherence target", ..REGULATES };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let target = self.0.change(|workspace| workspace.adjust_coherence_target(args.target));
        Ok(Reply::new(format!("The coherence target is {target}."), Output { target }))
    }
}
