//! Where a setting is written, as the console tells it.

use serde_json::{Value, json};

use crate::config::Origin;

/// The file and the line of a setting; of another place its name.
pub(super) fn place(origin: &Origin) -> Value {
    match origin {
        Origin::File { name, line, .. } => json!({ "file": &**name, "line": line }),
        other => json!({ "file": other.to_string(), "line": null }),
    }
}
