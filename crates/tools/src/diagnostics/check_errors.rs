//! `check_errors`: whether a file has errors now.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Card, Ctx, Fault, Reply, Tool, ToolRole, Wants, World,
    security::{Access, RawPath},
};
use tectum_lsp::Severity;

use super::{
    ask::{self, Checked},
    servers::Servers,
};
use crate::{
    cards::READS,
    files::{more::room, spelling::count},
};

/// Looks for errors.
#[derive(Clone, Debug)]
pub struct CheckErrors(pub Arc<Servers>);

/// Type and compile errors of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    path: RawPath,
}

impl Tool for CheckErrors {
    type Args = Args;
    type Output = Checked;
    const CARD: Card = Card {
        name: "check_errors",
        title: "Check errors",
        world: World::Open,
        deadline: Duration::from_secs(60),
        max_output: 64 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, _: Args) -> Result<Reply<Checked>, Fault> {
        let checked = ask::ask(&self.0, ctx, 0).await?;
        let text = match (checked.count(Severity::Error), checked.count(Severity::Warning)) {
            (0, 0) => format!("No errors in {}.", checked.path),
            (0, warnings) => {
                format!(
                    "No errors in {}; {}, see diagnostics.",
                    checked.path,
                    count(warnings as u64, "warning", "warnings")
                )
            }
            (errors, _) => {
                let lines = checked.lines(Severity::Error, room(ctx.max_output));
                format!("{} in {}:\n{lines}", count(errors as u64, "error", "errors"), checked.path)
            }
        };
        Ok(Reply { directives: vec![checked.anchor()], ..Reply::new(text, checked) })
    }
}
