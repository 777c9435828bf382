//! The numbers of lines without a list of lines.

use crate::text::Lines;

/// The numbers of lines, for a few offsets of a text: line ends are counted by the block, not
/// kept one by one.
pub(super) enum CountedLines<'t> {
    /// The number of lines that end before each block.
    Blocks(&'t [u8], Vec<u32>),
    /// A text in which `\r` may end lines too.
    Lines(Lines),
}

impl<'t> CountedLines<'t> {
    /// Bytes counted together: few enough to count again for every offset.
    const BLOCK: usize = 128;

    /// Counts a text's lines.
    pub(super) fn count(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        if memchr::memchr(b'\r', bytes).is_some() {
            return Self::Lines(Lines::of(text));
        }
        let mut blocks = Vec::with_capacity(bytes.len().div_ceil(Self::BLOCK));
        let mut before = 0u32;
        for block in bytes.chunks(Self::BLOCK) {
            blocks.push(before);
            before = before.saturating_add(ends(block) as u32);
        }
        Self::Blocks(bytes, blocks)
    }

    /// The number of the line that holds this offset.
    pub(super) fn at(&self, offset: usize) -> usize {
        match self {
            Self::Lines(lines) => lines.at(offset),
            Self::Blocks(bytes, blocks) => {
                let offset = offset.min(bytes.len().saturating_sub(1));
                let Some(before) = blocks.get(offset / Self::BLOCK) else { return 1 };
                let start = offset - offset % Self::BLOCK;
                1 + *before as usize + ends(&bytes[start..offset])
            }
        }
    }

    /// The same for an offset that mostly stands a little after one whose line is known.
    pub(super) fn at_near(&self, line: usize, known: usize, offset: usize) -> usize {
        match self {
            Self::Blocks(bytes, _) if offset < bytes.len() && offset.wrapping_sub(known) < Self::BLOCK => {
                line + ends(&bytes[known..offset])
            }
            _ => self.at(offset),
        }
    }
}

/// The number of lines that end in a stretch of no more than a block, in which only `\n` ends them. The
/// sum of so few fits a byte, and bytes are added up many at a time.
fn ends(stretch: &[u8]) -> usize {
    debug_assert!(stretch.len() <= CountedLines::BLOCK);
    usize::from(stretch.iter().fold(0u8, |sum, byte| sum.wrapping_add(u8::from(*byte == b'\n'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_lines_are_those_of_the_text() {
        let long = "line\n".repeat(1_000);
        for text in ["", "a", "a\nb\n", "\n\n", "a\r\nb\rc\n", &long] {
            let (lines, counted) = (Lines::of(text), CountedLines::count(text));
            for offset in 0..=text.len() {
                assert_eq!(counted.at(offset), lines.at(offset), "{offset} of {text:?}");
                for known in [0, offset.saturating_sub(7), offset, text.len()] {
                    let near = counted.at_near(counted.at(known), known, offset);
                    assert_eq!(near, lines.at(offset), "{offset} from {known} of {text:?}");
                }
            }
        }
    }
}
