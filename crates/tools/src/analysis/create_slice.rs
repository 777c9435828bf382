//! `create_slice`: keeps a range of lines so that it can be found again later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Tool, ToolRole, Wants,
    security::{Access, RawPath},
};

use super::anchor::Slice;
use crate::{Settings, cards::READS, text::TextFile};

/// A remark is a sentence or two, not a store: it is carried along with every use of the slice.
const ANNOTATION: usize = 1000;

/// Makes slices.
#[derive(Clone, Copy, Debug)]
pub struct CreateSlice {
    max_file: u64,
}

impl CreateSlice {
    /// With the house's limits.
    pub fn new(settings: &Settings) -> Self {
        Self { max_file: settings.max_file }
    }
}

/// Remember lines by content, for resolve_slice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    path: RawPath,
    start_line: i64,
    end_line: i64,
    annotation: Option<String>,
}

/// The slice.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// What resolve_slice takes.
    pub slice: Slice,
}

impl Tool for CreateSlice {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "create_slice",
        title: "Create slice",
        max_output: 64 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let max_file = self.max_file;
        ctx.blocking(move |ctx| create(ctx, args, max_file)).await
    }
}

fn create(ctx: &Ctx, args: Args, max_file: u64) -> Result<Reply<Output>, Fault> {
    if args.annotation.as_ref().is_some_and(|remark| remark.chars().count() > ANNOTATION) {
        return Err(Fault::invalid(format!("annotation takes at most {ANNOTATION} characters")));
    }
    let (path, file) = TextFile::of_call(ctx, 0, max_file)?;
    // What is below zero is as little a line as zero.
    let line = |given: i64| usize::try_from(given).unwrap_or(0);
    let slice =
        Slice::create(file.text(), line(args.start_line), line(args.end_line)).map_err(|refused| {
            Fault::invalid(format!("{path}, lines {}-{}: {refused}", args.start_line, args.end_line))
                .hint("lines count from 1 and the last is included")
        })?;
    let slice = slice.annotated(args.annotation);
    let json = serde_json::to_string(&slice)
        .map_err(|error| Fault::internal(format!("a slice is no JSON: {error}")))?;
    let text = format!("Slice of {path}, lines {}-{}:\n{json}", slice.start_line, slice.end_line);
    Ok(Reply::new(text, Output { path, slice }))
}
