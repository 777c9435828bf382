//! The facts that lines show and tokens do not: which comment documents a declaration, and which macro
//! stands alone.

use super::{bytes, reader::Reader, skim, state::Holder, token::Part, words::Key};
use crate::Span;

impl Reader<'_> {
    /// A macro on a line of its own, or the body of a type that lacks its semicolon, does not
    /// belong to the declaration on the next line.
    pub(super) fn end_loose_line(&mut self, at: usize, part: Part, word: &[u8]) {
        let tokens = self.declaration();
        let count = tokens.list.len();
        let Some(last) = tokens.list.last().copied() else { return };
        let fresh = matches!(
            part,
            Part::Key(Key::Class | Key::Template | Key::Namespace | Key::Typedef | Key::Using | Key::Extern)
        );
        if last.part == Part::TypeBody {
            if fresh || matches!(part, Part::Key(Key::Storage | Key::Struct | Key::Union | Key::Enum)) {
                self.finish(last.end as usize);
            }
            return;
        }
        let gap = &self.bytes[last.end as usize..at];
        if gap.len() < 2 && gap != b"\n" || count > 2 || !matches!(tokens.list[0].part, Part::Name) {
            // After a value in braces nothing but a mark can follow, nor after the value of what a
            // macro declares: `ITEM(x) = TYPE(y)`.
            let declared = count > 3
                && tokens.list[1].part == Part::Paren
                && tokens.list[2].part == Part::Mark(b'=')
                && last.part == Part::Paren
                && gap.contains(&b'\n');
            if declared || last.part == Part::Brace && !self.has_constraint() {
                self.drop_pending();
            }
            return;
        }
        let loud = tokens.is_loud(0) || bytes::ends_loud(tokens.text(0));
        let call = count == 2 && last.part == Part::Paren;
        let continues = matches!(
            part,
            Part::Key(
                Key::Attribute | Key::Qualifier | Key::Trailing | Key::Requires | Key::Try | Key::Operator
            )
        );
        let constructor = call && tokens.text(0) == tokens.class;
        if !(call || count == 1 && loud) || !gap.contains(&b'\n') || continues || constructor {
            return;
        }
        let apart = gap.iter().filter(|byte| **byte == b'\n').count() > 1 || gap.contains(&b'/');
        let in_class = self.scopes[self.state.scope as usize].holder == Holder::Class;
        let again = call && (tokens.text(0) == word || loud && bytes::is_loud(word));
        let extern_word = part == Part::Key(Key::Extern);
        if apart || again || in_class && count == 1 || fresh && !(extern_word && count == 1) {
            self.drop_pending();
        }
    }

    pub(super) fn has_constraint(&self) -> bool {
        self.declaration().list.iter().any(|token| token.part == Part::Key(Key::Requires))
    }

    /// Remembers a comment, with those directly before it.
    pub(super) fn saw_comment(&mut self, start: usize, end: usize) {
        self.at = end;
        let line = self.bytes[start + 1] == b'/';
        let before = self.comment;
        let gap = self.bytes.get(before.end as usize..start).unwrap_or_default();
        let joins = line
            && !before.is_empty()
            && self.bytes[before.start as usize + 1] == b'/'
            && gap.iter().all(u8::is_ascii_whitespace)
            && gap.iter().filter(|byte| **byte == b'\n').count() == 1;
        if joins {
            self.comment.end = end as u32;
        } else if skim::begins_line(self.bytes, start) {
            self.comment = Span::new(start, end);
        } else {
            self.comment = Span::default();
        }
    }

    /// The comment directly before an offset.
    pub(super) fn doc_before(&self, start: usize) -> Span {
        let gap = self.bytes.get(self.comment.end as usize..start).unwrap_or_default();
        let close = !self.comment.is_empty()
            && gap.len() < 256
            && gap.iter().all(u8::is_ascii_whitespace)
            && gap.iter().filter(|byte| **byte == b'\n').count() <= 1;
        if close { self.comment } else { Span::default() }
    }
}
