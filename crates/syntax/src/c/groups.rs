//! Skips what stands in brackets: parameters, values and bodies, of which only the end matters.

use super::{
    bytes,
    reader::Reader,
    recovery, skim,
    state::{Group, Skipping},
    token::Part,
};
use crate::{Gap, Span};

/// After a semicolon in parentheses, the closing one is looked for this far.
const SAME_LINE: usize = 200;

impl Reader<'_> {
    /// Begins to skip a group.
    pub(super) fn enter(&mut self, skipping: Skipping, open: usize, symbol: u32) {
        self.state.group = Group { skipping, open: open as u32, depth: 1, braces: 0, symbol };
        self.at = open + 1;
    }

    /// Skips in parentheses or square brackets of a declaration. A semicolon or a closing brace
    /// shows that they were never closed.
    pub(super) fn skip_brackets(&mut self) {
        static STOPS: [bool; 256] = bytes::set(b"()[]{};\"'/#");
        let paren = self.state.group.skipping == Skipping::Paren;
        let (opening, closing) = if paren { (b'(', b')') } else { (b'[', b']') };
        while let Some(stop) = bytes::find(self.bytes, self.at, &STOPS) {
            let byte = self.bytes[stop];
            self.at = stop + 1;
            let group = &mut self.state.group;
            match byte {
                b'{' => group.braces += 1,
                b'}' if group.braces > 0 => group.braces -= 1,
                b';' if group.braces > 0 || closes_soon(self.bytes, stop + 1, closing) => {}
                b';' | b'}' => {
                    let open = group.open as usize;
                    self.gaps.push(Gap { span: Span::new(open, stop), why: "a bracket is not closed" });
                    self.state.group = Group::OFF;
                    self.at = stop;
                    return self.drop_pending();
                }
                b'#' if skim::begins_line(self.bytes, stop) => return self.directive(stop),
                byte if byte == opening => group.depth += 1,
                byte if byte == closing && group.depth > 1 => group.depth -= 1,
                byte if byte == closing => {
                    let open = group.open as usize;
                    self.state.group = Group::OFF;
                    return self.push(if paren { Part::Paren } else { Part::Bracket }, open, stop + 1);
                }
                _ => self.pass(stop, byte),
            }
        }
        self.at = self.bytes.len();
    }

    /// Skips in braces: only braces count.
    pub(super) fn skip_braces(&mut self) {
        static STOPS: [bool; 256] = bytes::set(b"{}\"'/#");
        static LINES: [bool; 256] = bytes::set(b"{}\"'/#\n");
        let hasty = self.restarts >= recovery::RESTARTS && self.state.group.skipping == Skipping::Body;
        let stops = if hasty { &LINES } else { &STOPS };
        while let Some(stop) = bytes::find(self.bytes, self.at, stops) {
            let byte = self.bytes[stop];
            self.at = stop + 1;
            let group = &mut self.state.group;
            match byte {
                b'{' => group.depth += 1,
                b'}' if group.depth > 1 => group.depth -= 1,
                b'}' => return self.leave_group(stop),
                b'#' if skim::begins_line(self.bytes, stop) => return self.directive(stop),
                b'\n' if recovery::begins_definition(self.bytes, stop + 1) => {
                    return self.abandon_body(stop + 1);
                }
                _ => self.pass(stop, byte),
            }
        }
        self.at = self.bytes.len();
    }

    /// Past a literal or comment in a skipped group.
    pub(super) fn pass(&mut self, stop: usize, byte: u8) {
        self.at = match byte {
            b'"' => skim::string(self.bytes, stop, self.cpp),
            b'\'' => skim::apostrophe(self.bytes, stop, self.cpp),
            b'/' => skim::comment(self.bytes, stop).unwrap_or(stop + 1),
            _ => stop + 1,
        };
    }

    pub(super) fn leave_group(&mut self, close: usize) {
        let group = self.state.group;
        self.state.group = Group::OFF;
        match group.skipping {
            Skipping::Body => {
                self.end_symbol(group.symbol, group.open as usize, close + 1);
                self.drop_pending();
            }
            Skipping::Members => {
                self.end_symbol(group.symbol, group.open as usize, close + 1);
                self.push(Part::TypeBody, group.open as usize, close + 1);
                self.state.pending.defined = group.symbol;
            }
            Skipping::Value => self.push(Part::Brace, group.open as usize, close + 1),
            _ => self.drop_pending(),
        }
    }
}

/// True if a bracket is closed on the rest of the line: a semicolon before it is an argument.
fn closes_soon(bytes: &[u8], from: usize, closing: u8) -> bool {
    let rest = &bytes[from..bytes.len().min(from + SAME_LINE)];
    memchr::memchr2(closing, b'\n', rest).is_some_and(|at| rest[at] == closing)
}
