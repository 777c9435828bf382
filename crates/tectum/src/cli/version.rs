//! `tectum version`.

use serde_json::json;

use super::{failure::Failure, screen::Screen};

pub(crate) fn run(screen: &Screen) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if screen.json {
        screen.print_json(&json!({ "name": "tectum", "version": version }))
    } else {
        screen.print(&format!("tectum {version}"))
    }
}
