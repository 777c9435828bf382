//! `tectum version`.

use serde_json::json;

use super::{failure::Failure, screen::Screen};

pub(crate) fn run(screen: &Screen) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    screen.answer(&json!({ "name": "tectum", "version": version }), &format!("tectum {version}"))
}
