//! Lines that arrive one at a time, such as a log's: a private key spans several of them.

use std::borrow::Cow;

use crate::{HIDDEN, tokens};

/// Redacts one line after the other.
#[derive(Debug, Default)]
pub struct Lines {
    key_is_open: bool,
}

impl Lines {
    /// The line with everything hidden that is known to be secret.
    pub fn redact<'t>(&mut self, line: &'t str) -> Cow<'t, str> {
        if self.key_is_open {
            let is_end = line.contains("-----");
            self.key_is_open = !is_end && tokens::is_key_line(line);
            if self.key_is_open || is_end {
                return if line.trim().is_empty() { Cow::Borrowed(line) } else { Cow::Borrowed(HIDDEN) };
            }
        }
        self.key_is_open = tokens::leaves_key_open(line);
        crate::text(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_over_several_lines_is_hidden() {
        let mut lines = Lines::default();
        let key = [
            "-----BEGIN RSA PRIVATE KEY-----",
            "Proc-Type: 4,ENCRYPTED",
            "",
            "MIIEabcdefgh",
            "-----END RSA PRIVATE KEY-----",
        ];
        let shown: Vec<_> = key.iter().map(|line| lines.redact(line).into_owned()).collect();
        assert_eq!(shown, [key[0], HIDDEN, "", HIDDEN, HIDDEN]);
        assert_eq!(lines.redact("MIIEabcdefgh is no key here"), "MIIEabcdefgh is no key here");
    }

    #[test]
    fn a_mark_alone_hides_nothing_else() {
        let mut lines = Lines::default();
        for line in ["-----BEGIN PRIVATE KEY----- is missing", "the next line"] {
            assert_eq!(lines.redact(line), line);
        }
    }
}
