//! `create_slice`: keeps a range of lines so that it can be found again later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::anchor::Slice;
use crate::{cards::READS, text::TextFile};

/// A remark is a sentence or two, not a store: it is carried along with every use of the slice.
const ANNOTATION: usize = 1000;

/// Remember lines by content, for resolve_slice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    start_line: i64,
    end_line: i64,
    annotation: Option<String>,
}

/// The slice.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The file.
    path: String,
    /// What resolve_slice takes.
    slice: Slice,
}

/// Makes slices.
pub fn create_slice(max_file: u64) -> NativeTool {
    let (name, title) = ("create_slice", "Create slice");
    let card = Card { name, title, max_output: 64 * 1024, role: ToolRole::Alias, ..READS };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    NativeTool::row(card, "", wants, move |ctx, args| create(ctx, args, max_file))
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
