//! Directives: conditions split the text into branches, definitions of macros are symbols.

use super::{
    branches::{Branches, Turn},
    bytes,
    reader::Reader,
    skim,
    state::{NONE, Pending, State},
};

/// Bodies in branches that were given up end with the body that was kept, for so many at a time.
const TWINS: usize = 32;

impl Reader<'_> {
    /// A directive: conditions split the text, definitions are symbols, the rest is skipped.
    pub(super) fn directive(&mut self, hash: usize) {
        let end = skim::directive(self.bytes, hash);
        self.at = end;
        let line = self.bytes[hash + 1..end].trim_ascii_start();
        let length = line.iter().position(|byte| !bytes::in_word(*byte)).unwrap_or(line.len());
        let condition = line[length..].trim_ascii_start();
        self.state.pending.end = self.tokens.len() as u32;
        match &line[..length] {
            b"if" => self.branches.open(self.state, self.tokens.len(), condition),
            b"ifdef" | b"ifndef" => self.branches.open(self.state, self.tokens.len(), line),
            b"elif" => self.turn(|branches, state| branches.next(state, Some(condition))),
            b"elifdef" | b"elifndef" => self.turn(|branches, state| branches.next(state, Some(&line[2..]))),
            b"else" => self.turn(|branches, state| branches.next(state, None)),
            b"endif" => self.turn(|branches, state| branches.close(state)),
            b"define" => self.define(hash, end, condition),
            _ => {}
        }
    }

    /// Goes on with the state that the branches choose.
    pub(super) fn turn(&mut self, choose: impl FnOnce(&mut Branches<State>, State) -> Option<Turn<State>>) {
        let before = self.tokens.len();
        let Some(turn) = choose(&mut self.branches, self.state) else { return };
        self.branches.raise(before);
        if let Some(dropped) = turn.dropped {
            self.drop_state(dropped, turn.kept);
        }
        self.state = turn.state;
        self.resume(turn.state.pending);
    }

    /// Makes a saved declaration the last one in the list again.
    pub(super) fn resume(&mut self, pending: Pending) {
        let (begin, end) = (pending.begin as usize, pending.end as usize);
        if self.branches.floor() <= end {
            self.tokens.truncate(end);
        }
        self.state.pending = pending;
        if self.tokens.len() > end {
            self.state.pending.begin = self.tokens.len() as u32;
            self.tokens.extend_from_within(begin..end);
        }
    }

    /// Ends what is open in a branch that was given up: here, or where its twin in the branch
    /// that was kept ends.
    pub(super) fn drop_state(&mut self, dropped: State, kept: Option<State>) {
        let here = self.at as u32;
        let mut pairs = Vec::new();
        let mut pair = |open: u32, twin: u32| {
            if open != NONE && open != twin {
                pairs.push((open, twin));
            }
        };
        let kept_group = kept.map_or(NONE, |kept| kept.group.symbol);
        pair(dropped.group.symbol, kept_group);
        let mut other = kept.map_or(0, |kept| kept.scope);
        let mut scope = dropped.scope;
        for _ in 0..TWINS {
            if scope == other || scope == NONE || other == NONE {
                break;
            }
            let (left, right) = (self.scopes[scope as usize], self.scopes[other as usize]);
            pair(left.own, right.own);
            (scope, other) = (left.parent, right.parent);
        }
        for (open, twin) in pairs {
            let Some(symbol) = self.symbols.get_mut(open as usize) else { continue };
            if symbol.body.is_empty() {
                symbol.whole.end = here;
                symbol.body.end = here;
                if twin != NONE && self.twins.len() < TWINS {
                    self.twins.push((twin, open));
                }
            }
        }
    }
}
