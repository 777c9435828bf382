//! `adjust_temperature`: how sharply the organs compete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::Attention;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// Sets it.
#[derive(Clone, Debug)]
pub(crate) struct AdjustTemperature(pub(crate) Attention);

/// Set how sharply news compete: 0.1 (the strongest wins) to 10.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    temperature: f64,
}

/// What is set now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The temperature within its bounds.
    temperature: f64,
}

impl Tool for AdjustTemperature {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card { name: "adjust_temperature", title: "Set temperature", ..REGULATES };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let temperature = self.0.change(|workspace| workspace.adjust_temperature(args.temperature));
        Ok(Reply::new(format!("The temperature is {temperature}."), Output { temperature }))
    }
}
