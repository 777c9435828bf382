//! What PowerShell is called, and the words it is started with.

use std::path::Path;

/// Its programs, the first that is installed is taken.
pub const PROGRAMS: &[&str] = &["powershell.exe", "pwsh.exe", "powershell", "pwsh"];

/// The arguments that run a script in a directory.
pub fn arguments(script: &str, directory: &Path) -> Vec<String> {
    let script = format!("Set-Location -LiteralPath '{}'\n{script}", quoted(&directory.to_string_lossy()));
    vec!["-NoProfile".into(), "-NonInteractive".into(), "-Command".into(), script]
}

/// A text between single quotes: every character that PowerShell reads as one is doubled.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        quoted.push(c);
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(c);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quote_is_doubled() {
        let [.., script] =
            &arguments("Get-Date", Path::new("/a'b\u{2018}c\u{2019}d\u{201a}e\u{201b}f\u{201c}"))[..]
        else {
            panic!("arguments")
        };
        assert_eq!(
            script,
            "Set-Location -LiteralPath '/a''b\u{2018}\u{2018}c\u{2019}\u{2019}d\u{201a}\u{201a}e\u{201b}\u{201b}f\u{201c}'\nGet-Date"
        );
    }
}
