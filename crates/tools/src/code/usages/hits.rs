//! The places of a word in one file, without the file.

use tectum_syntax::{Mention, Role};

use super::line::Line;

/// Lines held of one file; a file with more of them is data, and its usages are only counted.
const MOST_ROWS: usize = 20_000;
/// The number of roles.
pub(crate) const ROLES: usize = 8;

/// The places of a word in one version of a file.
#[derive(Debug)]
pub(crate) struct Hits {
    /// In the order of the text.
    pub(super) rows: Box<[HitRow]>,
    /// The lines of the rows as they are shown, while there was room for them; otherwise none,
    /// and whoever shows them reads the file again.
    pub(super) texts: Box<[Box<str>]>,
    /// The number of times the word stands there in each role, held or not.
    pub(super) counts: [u64; ROLES],
    /// The number of rows of each role that are held.
    pub(super) held: [u32; ROLES],
    /// Some rows are not held.
    pub(super) cut: bool,
}

/// A line on which the word stands in one role. Hundreds of thousands of them are held at a
/// time, so that they have no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HitRow {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) role: Role,
    times: [u8; 3],
}

/// The part of an answer that is still held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// So many rows.
    pub(super) rows: usize,
    /// Their lines too.
    pub(super) texts: bool,
}

impl HitRow {
    /// The number of times the word stands there. No line that anybody reads comes near the end of
    /// these numbers; one that does is counted to it.
    pub(super) fn times(self) -> u32 {
        let [low, middle, high] = self.times;
        u32::from_le_bytes([low, middle, high, 0])
    }

    fn again(&mut self) {
        let [low, middle, high, over] = (self.times() + 1).to_le_bytes();
        if over == 0 {
            self.times = [low, middle, high];
        }
    }
}

impl Hits {
    /// The mentions of a text as lines; `None` without any.
    pub(super) fn find(text: &str, mentions: &[Mention], room: Room) -> Option<Self> {
        if mentions.is_empty() {
            return None;
        }
        let most = MOST_ROWS.min(room.rows);
        let mut rows: Vec<HitRow> = Vec::with_capacity(mentions.len().min(most));
        let mut texts = Vec::new();
        let (mut counts, mut held) = ([0; ROLES], [0; ROLES]);
        let mut cut = false;
        let mut line = Line::first(text);
        // The row of each role on the line being looked at.
        let mut on_line = [None; ROLES];
        for mention in mentions {
            let before = line.number;
            let at = mention.span.start as usize;
            line.advance(at);
            if line.number != before {
                on_line = [None; ROLES];
            }
            // `obj.run()` may be anything of that name, `run()` is not.
            let told = match mention.role {
                Role::Call if mention.member => Role::MemberCall,
                role => role,
            };
            let role = told as usize;
            counts[role] += 1;
            if let Some(row) = on_line[role] {
                let row: &mut HitRow = &mut rows[row];
                row.again();
            } else if rows.len() < most {
                on_line[role] = Some(rows.len());
                held[role] += 1;
                rows.push(HitRow {
                    line: line.number,
                    column: line.column(at),
                    role: told,
                    times: [1, 0, 0],
                });
                if room.texts {
                    texts.push(line.shown(at));
                }
            } else {
                cut = true;
            }
        }
        Some(Self { rows: rows.into(), texts: texts.into(), counts, held, cut })
    }

    /// Their size in memory.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.rows) + self.texts_weight()
    }

    /// The size of the lines in memory.
    pub(super) fn texts_weight(&self) -> usize {
        size_of_val(&*self.texts) + self.texts.iter().map(|text| text.len()).sum::<usize>()
    }

    /// True if the word is defined here.
    pub(super) fn defines(&self) -> bool {
        self.counts[Role::Definition as usize] > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tectum_syntax::Span;

    const ALL: Room = Room { rows: MOST_ROWS, texts: true };

    fn rows(text: &str, word: &str) -> Vec<(u32, u32, u32, String)> {
        let mention = |(at, _): (usize, &str)| Mention {
            span: Span::new(at, at + word.len()),
            role: Role::Call,
            member: false,
        };
        let mentions: Vec<Mention> = text.match_indices(word).map(mention).collect();
        let hits = Hits::find(text, &mentions, ALL).expect("some");
        assert_eq!(hits.counts[Role::Call as usize], mentions.len() as u64);
        let bare = Hits::find(text, &mentions, Room { texts: false, ..ALL }).expect("some");
        assert_eq!((&bare.rows, bare.texts.len()), (&hits.rows, 0));
        let rows = hits.rows.iter().zip(&hits.texts);
        rows.map(|(row, text)| (row.line, row.column, row.times(), text.to_string())).collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[(u32, u32, u32, &str)]) {
        let found = rows(text, "w");
        let found: Vec<_> = found.iter().map(|(a, b, c, d)| (*a, *b, *c, d.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn every_line_end_counts_once() {
        check("w\n w\r\nxx w\r w ", &[(1, 1, 1, "w"), (2, 2, 1, "w"), (3, 4, 1, "xx w"), (4, 2, 1, "w")]);
        check("\r\n\r\nw", &[(3, 1, 1, "w")]);
    }

    #[test]
    fn a_line_is_one_row_and_columns_are_characters() {
        check("éé w(w, w)\n", &[(1, 4, 3, "éé w(w, w)")]);
    }

    #[test]
    fn rows_are_small_and_count_on() {
        assert_eq!(size_of::<HitRow>(), 12);
        check(&"w".repeat(70_000), &[(1, 1, 70_000, &("w".repeat(240) + "…"))]);
    }

    #[test]
    fn what_is_not_held_is_counted() {
        let mentions: Vec<Mention> = (0..10)
            .map(|line| Mention { span: Span::new(line * 2, line * 2 + 1), role: Role::Call, member: false })
            .collect();
        let hits = Hits::find(&"w\n".repeat(10), &mentions, Room { rows: 3, ..ALL }).expect("some");
        assert_eq!((hits.rows.len(), hits.counts[Role::Call as usize], hits.cut), (3, 10, true));
        assert_eq!((hits.held[Role::Call as usize], hits.texts.len()), (3, 3));
    }
}
