//! Brackets and conditions that are not closed, each branch of the preprocessor read on its own.

use super::{
    branches::{BranchPlace, Branches},
    bytes, pieces, skim,
};
use crate::{Problem, Span};

/// More mismatches say nothing that the first ones do not.
const MOST: usize = 20;

/// Stands for no bracket.
const NONE: u32 = u32::MAX;

struct Bracket {
    parent: u32,
    at: u32,
    byte: u8,
    /// The innermost brace around, itself included.
    brace: u32,
}

/// The innermost open bracket.
#[derive(Clone, Copy)]
struct Top {
    node: u32,
    depth: u32,
    /// The number of mismatches that were known when it was saved.
    problems: usize,
}

impl BranchPlace for Top {
    fn same_place(&self, other: &Self) -> bool {
        self.depth == other.depth
    }
}

/// The brackets of a text that have no partner.
pub(super) fn problems(text: &str, cpp: bool) -> Vec<Problem> {
    static STOPS: [bool; 256] = bytes::set(b"()[]{}\"'/#");
    let source = text.as_bytes();
    let top = Top { node: NONE, depth: 0, problems: 0 };
    let mut check = BracketCheck {
        nodes: Vec::new(),
        top,
        problems: Vec::new(),
        branches: Branches::new(),
        conditions: Vec::new(),
    };
    let mut at = 0;
    while let Some(stop) = bytes::find(source, at, &STOPS) {
        at = stop + 1;
        match source[stop] {
            byte @ (b'(' | b'[' | b'{') => check.open(byte, stop),
            byte @ (b')' | b']' | b'}') => check.close(byte, stop),
            b'"' => at = skim::string(source, stop, cpp),
            b'\'' => at = skim::apostrophe(source, stop, cpp),
            b'/' => at = skim::comment(source, stop).unwrap_or(at),
            _ if skim::begins_line(source, stop) => {
                at = skim::directive(source, stop);
                check.directive(source, stop, at);
            }
            _ => {}
        }
    }
    while let Some(at) = check.conditions.pop().filter(|_| check.problems.len() < MOST) {
        check.report(at, "a condition has no `#endif`".to_owned());
    }
    while check.top.node != NONE && check.problems.len() < MOST {
        check.unclosed();
    }
    check.problems.sort_by_key(|problem| problem.span.start);
    check.problems
}

struct BracketCheck {
    nodes: Vec<Bracket>,
    top: Top,
    problems: Vec<Problem>,
    branches: Branches<Top>,
    /// The beginnings of the conditions that are open.
    conditions: Vec<usize>,
}

impl BracketCheck {
    fn open(&mut self, byte: u8, at: usize) {
        let node = self.nodes.len() as u32;
        let around = self.nodes.get(self.top.node as usize).map_or(NONE, |top| top.brace);
        let brace = if byte == b'{' { node } else { around };
        self.nodes.push(Bracket { parent: self.top.node, at: at as u32, byte, brace });
        self.top.node = node;
        self.top.depth += 1;
    }

    fn close(&mut self, byte: u8, at: usize) {
        let wanted = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let Some(top) = self.nodes.get(self.top.node as usize) else { return self.extra(byte, at) };
        if top.byte == wanted {
            return self.pop();
        }
        let outer = self
            .nodes
            .get(top.parent as usize)
            .is_some_and(|outer| outer.byte == wanted && outer.byte != b'{');
        match byte {
            b'}' if top.brace != NONE => {
                let brace = top.brace;
                self.unclosed();
                self.top.node = brace;
                self.top.depth = self.top.depth.max(1);
                self.pop();
            }
            _ if outer && top.byte != b'{' => {
                self.unclosed();
                self.pop();
            }
            _ => self.extra(byte, at),
        }
    }

    fn pop(&mut self) {
        if let Some(top) = self.nodes.get(self.top.node as usize) {
            self.top.node = top.parent;
            self.top.depth = self.top.depth.saturating_sub(1);
        }
    }

    /// Reports the innermost open bracket, and leaves it.
    fn unclosed(&mut self) {
        let Some(top) = self.nodes.get(self.top.node as usize) else { return };
        let (at, byte) = (top.at as usize, top.byte);
        self.report(at, format!("`{}` is not closed", byte as char));
        self.pop();
    }

    fn extra(&mut self, byte: u8, at: usize) {
        self.report(at, format!("`{}` closes nothing", byte as char));
    }

    fn report(&mut self, at: usize, message: String) {
        if self.problems.len() < MOST {
            self.problems.push(Problem { span: Span::new(at, at + 1), message });
        }
    }

    fn directive(&mut self, source: &[u8], hash: usize, end: usize) {
        let (word, after) = pieces::directive_parts(source, hash, end);
        let condition = source[after..end].trim_ascii();
        let line = source[hash + 1..end].trim_ascii();
        match word {
            b"if" | b"ifdef" | b"ifndef" => self.conditions.push(hash),
            b"endif" if self.conditions.pop().is_none() => {
                self.report(hash, "`#endif` closes nothing".to_owned())
            }
            b"else" | b"elif" if self.conditions.is_empty() => {
                self.report(hash, format!("`#{}` without a condition", String::from_utf8_lossy(word)));
            }
            _ => {}
        }
        let state = Top { problems: self.problems.len(), ..self.top };
        let turn = match word {
            b"if" => return self.branches.open(state, 0, condition),
            b"ifdef" | b"ifndef" => return self.branches.open(state, 0, line),
            b"elif" => self.branches.next(state, Some(condition)),
            b"elifdef" | b"elifndef" => self.branches.next(state, Some(&line[2..])),
            b"else" => self.branches.next(state, None),
            b"endif" => self.branches.close(state),
            _ => return,
        };
        let Some(turn) = turn else { return };
        // What was found in a branch that does not fit the others was found by mistake.
        if let (Some(dropped), Some(kept)) = (turn.dropped, turn.kept)
            && !dropped.same_place(&kept)
        {
            self.problems.truncate(turn.entry.problems.max(kept.problems));
        }
        self.top = turn.state;
    }
}
