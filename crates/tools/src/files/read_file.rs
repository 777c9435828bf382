//! `read_file`: a text file, or a page of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Tool, Wants, World,
    security::{Access, RawPath},
};

use super::{
    page::Cursor,
    reading::{self, Ask, Reading},
};

/// Reads a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile;

/// Read a text file, whole or from a line on. Text in other encodings than UTF-8 is decoded;
/// a byte order mark is kept. A reply holds at most 1 MiB: when there is more, it ends with a
/// note that says how to go on, also inside one giant line. Binary files are refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File inside the project.
    pub path: RawPath,
    /// Where to go on, as the note of the page before says: a line ("2001") or a line and a
    /// character in it ("1:1048577"). Stands in for start_line.
    #[serde(default)]
    pub from: Option<String>,
    /// First line to read, counted from 1. Default 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub start_line: Option<usize>,
    /// Last line to read, included. Default the last of the file.
    #[serde(default)]
    pub end_line: Option<usize>,
}

impl Tool for ReadFile {
    type Args = Args;
    type Output = Reading;
    const CARD: Card = Card {
        name: "read_file",
        title: "Read file",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "path",
        deadline: Duration::from_secs(30),
        max_output: 1024 * 1024,
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Reading>, Fault> {
        let from = match &args.from {
            Some(token) => Cursor::parse(token)?,
            None => Cursor::line(args.start_line.unwrap_or(1)),
        };
        let reading = reading::read(ctx, Ask { from, last: args.end_line }).await?;
        if reading.next.is_none() {
            return Ok(Reply::showing(|reading| reading.content, reading));
        }
        let again = args.end_line.map(|line| format!(", end_line={line}")).unwrap_or_default();
        Ok(Reply::new(reading.text(&again), reading))
    }
}
