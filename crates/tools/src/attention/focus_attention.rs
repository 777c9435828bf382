//! `focus_attention`: pins what must be told and mutes what need not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_attend::{Attention, FOCUS_ATTENTION, UnknownOrgan};
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::REGULATES;

/// Pins and mutes.
#[derive(Clone, Debug)]
pub(crate) struct FocusAttention(pub(crate) Attention);

/// Choose what news you are told: without arguments lists the organs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// As in internal:files or mcp:ci:main.
    #[serde(default)]
    #[schemars(with = "String")]
    organ: Option<String>,
    /// Tell every change of it; false takes that back.
    #[serde(default)]
    #[schemars(with = "bool")]
    pin: Option<bool>,
    /// Tell nothing of it; false takes that back.
    #[serde(default)]
    #[schemars(with = "bool")]
    mute: Option<bool>,
}

/// The organs as they are now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The one that was named, or all.
    organs: Vec<Organ>,
}

/// One organ.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Organ {
    /// Its name.
    organ: String,
    /// Whether it is told whenever anything changes.
    pinned: bool,
    /// Whether it is never told.
    muted: bool,
    /// Facts of it that wait.
    waiting: usize,
}

fn unknown(why: UnknownOrgan) -> Fault {
    Fault::not_found(format!("there is no organ `{}`", why.organ))
        .hint(format!("there are: {}", why.known.join(", ")))
}

impl Tool for FocusAttention {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: FOCUS_ATTENTION,
        title: "Choose news",
        primary: "organ",
        max_output: 48 * 1024,
        ..REGULATES
    };

    fn wants(&self, args: &Args) -> Wants {
        let subject = args.organ.clone().map_or(Subject::None, Subject::Text);
        Wants { subject, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        match (&args.organ, args.pin, args.mute) {
            (None, None, None) => {}
            (None, ..) => {
                return Err(
                    Fault::invalid("`organ` is missing").hint("call it without arguments to see the names")
                );
            }
            (Some(organ), pin, mute) => self.0.focus_on(organ, pin, mute).map_err(unknown)?,
        }
        let organs: Vec<Organ> = self
            .0
            .with(|workspace| workspace.organs())
            .into_iter()
            .filter(|view| args.organ.as_ref().is_none_or(|organ| view.organ == *organ))
            .map(|view| Organ {
                organ: view.organ,
                pinned: view.pinned,
                muted: view.muted,
                waiting: view.waiting,
            })
            .collect();
        let line = |organ: &Organ| {
            let state = match (organ.pinned, organ.muted) {
                (_, true) => ", muted",
                (true, _) => ", pinned",
                _ => "",
            };
            format!("{}{state}, {} waiting", organ.organ, organ.waiting)
        };
        let text: Vec<String> = organs.iter().map(line).collect();
        Ok(Reply::new(text.join("\n"), Output { organs }))
    }
}
