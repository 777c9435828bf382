//! The text of the one file a call is about.

use tectum_core::{Ctx, Fault};

use crate::text::TextFile;

/// Reads the call's first path as text, refusing more than `most` bytes. Gives its name too.
pub(super) fn file(ctx: &Ctx, most: u64) -> Result<(String, TextFile), Fault> {
    let path = ctx.path(0)?;
    let name = path.name();
    let bytes = path.file()?.bytes(most)?;
    let file = TextFile::decode(bytes).map_err(|not_text| not_text.fault(&name))?;
    Ok((name, file))
}
