//! Opening a page in the user's browser.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

/// The program that opens a page here.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address in the user's browser, if it is one of the web. An error says that somebody
/// has to open it by hand.
pub fn open(address: &str) -> Result<(), String> {
    if !address.starts_with("https://") && !address.starts_with("http://") {
        return Err("only addresses of the web are opened".into());
    }
    start(address.as_ref())
}

/// Opens a file of our own in the user's browser.
pub fn open_file(path: &Path) -> Result<(), String> {
    start(path.as_os_str())
}

#[expect(clippy::disallowed_methods, reason = "the user's own browser, at the user's own request")]
fn start(what: &OsStr) -> Result<(), String> {
    let mut opener = Command::new(OPENER)
        .arg(what)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{OPENER} could not be started: {error}"))?;
    // Somebody has to take note of its end.
    std::thread::spawn(move || opener.wait());
    Ok(())
}
