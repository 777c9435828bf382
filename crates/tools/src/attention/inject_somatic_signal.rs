//! `inject_somatic_signal`: something that the agent or a host noticed competes with the other news.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::Attention;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// The longest name of a signal.
const LONGEST: usize = 64;

/// Takes it in.
#[derive(Clone, Debug)]
pub(crate) struct InjectSomaticSignal(pub(crate) Attention);

/// Let something that you noticed compete with other news.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    name: String,
    /// From 0 to 1.
    intensity: f64,
}

/// What was taken in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The organ it belongs to.
    organ: String,
}

impl Tool for InjectSomaticSignal {
    type Args = Args;
    type Output = Output;
    const CARD: Card =
        Card { name: "inject_somatic_signal", title: "Signal something", primary: "name", ..REGULATES };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.name.clone()), paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let Args { name, intensity } = args;
        if name.is_empty() || name.chars().count() > LONGEST || name.chars().any(char::is_control) {
            let message = format!("`name` must have 1 to {LONGEST} visible characters");
            return Err(Fault::invalid(message).hint("name it in one word, such as latency"));
        }
        if !(0.0..=1.0).contains(&intensity) {
            return Err(Fault::invalid("`intensity` must be from 0 to 1"));
        }
        let now = self.0.now();
        self.0.change(|workspace| workspace.inject_somatic_signal(&name, intensity, now));
        let organ = format!("somatic:{name}");
        Ok(Reply::new(format!("{organ} competes with an intensity of {intensity}."), Output { organ }))
    }
}
