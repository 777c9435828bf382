//! `resolve_slice`: finds the lines of a slice again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::anchor::{self, AnchorStatus, Resolved, Slice};
use crate::{
    cards::READS,
    files::more::{framed, room},
    text::{Lines, TextFile},
};

/// Find the lines of a slice again after edits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    // It is copied, not written, so its fields need no room in the list of tools.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    slice: Slice,
}

/// Where the lines are now.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The file.
    path: String,
    /// Where they are and how they were found.
    #[serde(flatten)]
    found: Resolved,
    /// The lines; none when they are lost.
    content: Option<String>,
    /// True when the content was cut.
    truncated: bool,
    /// The slice's remark.
    annotation: Option<String>,
}

/// Finds slices.
pub fn resolve_slice(max_file: u64) -> NativeTool {
    let card = Card { name: "resolve_slice", title: "Resolve slice", role: ToolRole::Alias, ..READS };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    NativeTool::row(card, "", wants, move |ctx, args: Args| find(ctx, args.slice, max_file))
}

fn find(ctx: &Ctx, slice: Slice, max_file: u64) -> Result<Reply<Output>, Fault> {
    let (path, file) = TextFile::of_call(ctx, 0, max_file)?;
    ctx.check()?;
    let found = anchor::resolve(file.text(), &slice);
    let old = format!("{}-{}", slice.start_line, slice.end_line);
    let annotation = slice.annotation;
    let (Some(start), Some(end)) = (found.start, found.end) else {
        let now = match file.lines().count() {
            0 => format!("Its old lines {old} are gone: the file is empty"),
            lines if lines < slice.start_line => {
                format!("Its old lines {old} are gone: the file ends at line {lines}")
            }
            _ => format!("Its old lines {old} hold something else now"),
        };
        let text = format!(
            "lost: no lines of {path} are like this slice. {now}; read the file and make a new slice."
        );
        return Ok(Reply::new(text, Output { path, found, content: None, truncated: false, annotation }));
    };
    let (content, truncated) = lines(&file, start, end, room(ctx.max_output));
    let mut text = format!("{}: lines {start}-{end} of {path}", found.status.name());
    if found.status != AnchorStatus::Exact {
        text.push_str(&format!(", before {old}"));
    }
    text.push_str(&format!("; confidence {:.2}\n", found.confidence));
    if let Some(remark) = &annotation {
        text.push_str(&format!("Annotation: {remark}\n"));
    }
    text.push_str(&content);
    if truncated {
        let next = start + Lines::of(&content).count();
        text = framed(&format!("cut; continue with read_file offset={next} end_line={end}"), &text);
    }
    Ok(Reply::new(text, Output { path, found, content: Some(content), truncated, annotation }))
}

/// The text of these lines, and whether it had to be cut.
fn lines(file: &TextFile, start: usize, end: usize, most: usize) -> (String, bool) {
    let begin = file.lines().range(start).map_or(0, |line| line.start);
    let close = file.lines().range(end).map_or(begin, |line| line.end);
    let text = &file.text()[begin..close];
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    let shown = text.floor_char_boundary(most);
    let whole = text[..shown].rfind('\n').map_or(shown, |end| end + 1);
    (text[..whole].to_owned(), true)
}
