//! `read_file`: a text file, or a page of it.

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Card, Ctx, Fault, Reply, Tool, ToolRole, Wants,
    security::{Access, RawPath},
};

use super::{
    page::Cursor,
    part::{PartRequest, Reading},
    reading,
};
use crate::cards::READS;

/// Reads a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile;

/// Read a text file (cat), a long one in parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    path: RawPath,
    /// First line, from 1.
    offset: Option<Cursor>,
    limit: Option<usize>,
    end_line: Option<usize>,
}

impl Tool for ReadFile {
    type Args = Args;
    type Output = Reading;
    const CARD: Card = Card {
        name: "read_file",
        title: "Read file",
        max_output: 1024 * 1024,
        role: ToolRole::Reader,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Reading>, Fault> {
        let from = args.offset.unwrap_or(Cursor::line(1));
        if args.limit == Some(0) {
            return Err(Fault::invalid("`limit` must be at least 1"));
        }
        let counted = args.limit.map(|limit| from.line.saturating_add(limit - 1));
        let last = args.end_line.into_iter().chain(counted).min();
        let reading = reading::read(ctx, PartRequest { from, last }).await?;
        Ok(reading.reply())
    }
}
