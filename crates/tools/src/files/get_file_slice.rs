//! `get_file_slice`: exact lines of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Tool, ToolRole, Wants,
    security::{Access, RawPath},
};

use super::{
    page::Cursor,
    part::{PartRequest, Reading, missing},
    reading,
};
use crate::cards::READS;

/// Reads lines.
#[derive(Clone, Copy, Debug)]
pub struct GetFileSlice;

/// Read lines start_line to end_line of a file, from 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    path: RawPath,
    start_line: i64,
    end_line: i64,
}

/// The lines, and the facts of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// True when end_line was past the end and the file's last line stands in for it.
    pub clamped: bool,
    /// What was read.
    #[serde(flatten)]
    pub reading: Reading,
}

impl Tool for GetFileSlice {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "get_file_slice",
        title: "Read lines",
        max_output: 1024 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let line = |given: i64| usize::try_from(given).ok().filter(|line| *line > 0);
        let (Some(start), Some(end)) = (line(args.start_line), line(args.end_line)) else {
            return Err(Fault::invalid(format!(
                "lines count from 1, got start_line={} and end_line={}",
                args.start_line, args.end_line
            ))
            .hint("read_file without lines gives the file from its start"));
        };
        let ask = PartRequest { from: Cursor::line(start), last: Some(end) };
        let reading = reading::read(ctx, ask).await?;
        if reading.lines_total == 0 {
            return Err(missing(&reading.path, ask, 0));
        }
        let clamped = end > reading.lines_total;
        let text = reading.text("start_line", clamped.then_some(end));
        Ok(Reply::new(text, Output { clamped, reading }))
    }
}
