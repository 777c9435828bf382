//! Opening a page in the user's browser.

use std::process::{Command, Stdio};

/// The program that opens a page here.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address in the user's browser, if it is one of the web. An error says that somebody
/// has to open it by hand.
#[expect(clippy::disallowed_methods, reason = "the user's own browser, at the user's own request")]
pub fn open(address: &str) -> Result<(), String> {
    if !address.starts_with("https://") && !address.starts_with("http://") {
        return Err("only addresses of the web are opened".into());
    }
    let mut opener = Command::new(OPENER)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{OPENER} could not be started: {error}"))?;
    // Somebody has to take note of its end.
    std::thread::spawn(move || opener.wait());
    Ok(())
}
