//! Classes of bytes, so that skimming costs one table look-up a byte. Knows no syntax.

/// The sorts of tokens that a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Blanks, line ends and whatever means nothing in C.
    Blank,
    /// Letters, `_`, `$` and every byte of a character beyond ASCII.
    Word,
    /// Digits.
    Digit,
    /// Anything else.
    Mark,
}

/// The class of every byte.
pub(super) static CLASS: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Blank; 256];
    let mut byte = 0x21;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' | 0x80.. => Class::Word,
            b'0'..=b'9' => Class::Digit,
            0x7f | b'\\' => Class::Blank,
            _ => Class::Mark,
        };
        byte += 1;
    }
    table
}

/// Marks some bytes.
pub(super) const fn set(marks: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

/// True if a byte can stand in a word.
pub(super) fn in_word(byte: u8) -> bool {
    matches!(CLASS[byte as usize], Class::Word | Class::Digit)
}

/// The end of the word that begins at an offset.
pub(super) fn word_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| !in_word(*byte)).map_or(bytes.len(), |length| from + length)
}

/// The first byte of a set from an offset on.
pub(super) fn find(bytes: &[u8], from: usize, set: &[bool; 256]) -> Option<usize> {
    bytes[from..].iter().position(|byte| set[*byte as usize]).map(|length| from + length)
}

/// True if a name is written like a macro: capitals, digits and underscores, more than one.
pub(super) fn is_loud(name: &[u8]) -> bool {
    name.len() > 1
        && name.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        && name.iter().any(u8::is_ascii_uppercase)
}

/// True if a name ends like a macro: `PyObject_HEAD`.
pub(super) fn ends_loud(name: &[u8]) -> bool {
    let tail = name.iter().rposition(|byte| *byte == b'_').map_or(&[][..], |at| &name[at + 1..]);
    tail.len() > 2 && tail.iter().all(u8::is_ascii_uppercase)
}
