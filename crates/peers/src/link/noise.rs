//! The output of a server that is no message: let go, but counted, with its beginning for people who
//! wonder why nothing comes.

use crate::visible::on_one_line;

/// Characters of the first of it that are shown.
const MOST_SHOWN: usize = 120;
/// A program that wrote so much of it and no message yet is none that speaks the protocol: what
/// installers and loggers print before a server begins is far less.
const MOST_LINES: u64 = 10_000;

/// The noise of one connection.
#[derive(Debug, Default)]
pub(super) struct Noise {
    lines: u64,
    first: String,
}

impl Noise {
    /// Something came that is no message. True when it was so much that a message should have come.
    pub(super) fn add(&mut self, bytes: &[u8]) -> bool {
        if self.lines == 0 {
            // No character has more bytes than four.
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MOST_SHOWN)]);
            self.first = on_one_line(&start.trim().chars().take(MOST_SHOWN).collect::<String>());
        }
        self.lines = self.lines.saturating_add(1);
        self.lines >= MOST_LINES
    }

    /// In words, if there was any.
    pub(super) fn words(&self) -> Option<String> {
        match self.lines {
            0 => None,
            1 => Some(format!("it wrote a line that is no JSON-RPC: {}", self.first)),
            lines => Some(format!("it wrote {lines} lines that are no JSON-RPC, the first: {}", self.first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::inbox::{Inbox, Origin};

    #[test]
    fn what_is_no_message_is_counted_and_its_beginning_is_harmless() {
        let mut noise = Noise::default();
        assert_eq!(noise.words(), None);
        assert!(!noise.add(b"\x1b[31mStarting\xff"));
        assert_eq!(
            noise.words().as_deref(),
            Some("it wrote a line that is no JSON-RPC: \\u{1b}[31mStarting\u{fffd}")
        );
        assert!(!noise.add("x".repeat(1_000_000).as_bytes()));
        assert!(noise.words().expect("words").starts_with("it wrote 2 lines"));
        let mut long = Noise::default();
        long.add("日".repeat(1_000_000).as_bytes());
        assert_eq!(long.words().expect("words").matches('日').count(), MOST_SHOWN);
    }

    #[test]
    fn a_program_that_only_makes_noise_is_not_listened_to_for_ever() {
        let ((mute, _loose), (server, _other)) = (Inbox::new(), Inbox::new());
        server.deliver(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#, Origin::Shared);
        for inbox in [&mute, &server] {
            for _ in 1..MOST_LINES {
                inbox.deliver(b"y", Origin::Shared);
            }
            assert_eq!(inbox.lost(), None);
            inbox.deliver(b"y", Origin::Shared);
        }
        assert!(mute.lost().is_some());
        assert_eq!(server.lost(), None, "one that speaks may write what it likes");
    }
}
