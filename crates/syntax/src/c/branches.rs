//! The branches of the preprocessor. Each branch is read from the state before the first one,
//! and the text goes on with the state of one of them, the same one wherever a condition comes
//! back.

/// The state at a place of the text.
pub(super) trait BranchPlace: Copy {
    /// True if two of them stand in the same brackets.
    fn same_place(&self, other: &Self) -> bool;
}

/// Conditions within conditions beyond this depth are read through, not apart.
const DEEPEST: usize = 200;

/// So many conditions are remembered; the oldest are forgotten first.
const REMEMBERED: usize = 64;

/// The value of a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    Unknown,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

/// One `#if` that is open.
struct BranchFrame<S> {
    entry: S,
    /// Tokens before this one belong to saved states.
    floor: usize,
    chosen: Option<S>,
    chosen_condition: u64,
    /// The condition of the branch that is being read.
    condition: u64,
    verdict: Verdict,
    otherwise: bool,
    branches: u32,
}

/// All the `#if`s that are open, and what was decided about conditions.
pub(super) struct Branches<S> {
    frames: Vec<BranchFrame<S>>,
    ignored: usize,
    known: Vec<(u64, bool)>,
}

/// The next step after a branch.
pub(super) struct Turn<S> {
    /// The state to go on with.
    pub(super) state: S,
    /// The state before the first branch.
    pub(super) entry: S,
    /// States at the ends of branches that were given up, to be closed at this place.
    pub(super) dropped: Option<S>,
    /// The state that took the place of the one given up.
    pub(super) kept: Option<S>,
}

impl<S: BranchPlace> Branches<S> {
    /// Nothing open, nothing known.
    pub(super) fn new() -> Self {
        Self { frames: Vec::new(), ignored: 0, known: Vec::new() }
    }

    /// Tokens before this place are needed by a state that was saved.
    pub(super) fn floor(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.floor)
    }

    /// Tokens before this place have just been saved.
    pub(super) fn raise(&mut self, floor: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.floor = frame.floor.max(floor);
        }
    }

    /// Forgets what is open, after a restart in the middle of the text.
    pub(super) fn forget(&mut self) {
        self.frames.clear();
        self.ignored = 0;
    }

    /// `#if`.
    pub(super) fn open(&mut self, state: S, tokens: usize, condition: &[u8]) {
        if self.frames.len() >= DEEPEST {
            self.ignored += 1;
            return;
        }
        let (condition, verdict) = self.judge(condition);
        let floor = tokens.max(self.floor());
        self.frames.push(BranchFrame {
            entry: state,
            floor,
            chosen: None,
            chosen_condition: 0,
            condition,
            verdict,
            otherwise: false,
            branches: 1,
        });
    }

    /// `#elif` or `#else`, given the state at the end of the branch before.
    pub(super) fn next(&mut self, state: S, condition: Option<&[u8]>) -> Option<Turn<S>> {
        if self.ignored > 0 {
            return None;
        }
        let (condition, verdict) = match condition {
            Some(condition) => self.judge(condition),
            None => (0, Verdict::Unknown),
        };
        let frame = self.frames.last_mut()?;
        let dropped = frame.leave(state);
        frame.condition = condition;
        frame.verdict = verdict;
        frame.otherwise |= condition == 0;
        frame.branches += 1;
        Some(Turn { state: frame.entry, entry: frame.entry, kept: frame.chosen, dropped })
    }

    /// `#endif`.
    pub(super) fn close(&mut self, state: S) -> Option<Turn<S>> {
        if self.ignored > 0 {
            self.ignored -= 1;
            return None;
        }
        let mut frame = self.frames.pop()?;
        let first = frame.branches == 1;
        let condition = frame.condition;
        let dropped = frame.leave(state);
        let kept = frame.chosen.unwrap_or(frame.entry);
        if !kept.same_place(&frame.entry) || dropped.is_some_and(|dropped| !dropped.same_place(&kept)) {
            let taken = frame.chosen.is_some();
            self.remember(if taken { frame.chosen_condition } else { condition }, taken);
        } else if first && !state.same_place(&frame.entry) {
            self.remember(condition, false);
        }
        Some(Turn { state: kept, entry: frame.entry, dropped, kept: Some(kept) })
    }

    /// The sign of a condition, and whether it holds.
    fn judge(&self, condition: &[u8]) -> (u64, Verdict) {
        let (sign, negated) = sign(condition);
        match sign {
            ZERO => return (sign, negated.into()),
            ONE => return (sign, (!negated).into()),
            _ => {}
        }
        let known = self.known.iter().rev().find(|(known, _)| *known == sign >> 1).map(|(_, holds)| *holds);
        (sign, known.map_or(Verdict::Unknown, |holds| (holds != negated).into()))
    }

    fn remember(&mut self, sign: u64, holds: bool) {
        if sign <= ONE {
            return;
        }
        if self.known.len() >= REMEMBERED {
            self.known.remove(0);
        }
        let negated = sign & 1 == 1;
        self.known.push((sign >> 1, holds != negated));
    }
}

impl<S: BranchPlace> BranchFrame<S> {
    /// Ends a branch. Says which state is given up, if one is.
    fn leave(&mut self, state: S) -> Option<S> {
        if (self.chosen.is_some() && self.verdict != Verdict::Holds) || self.verdict == Verdict::Fails {
            return Some(state);
        }
        self.chosen_condition = self.condition;
        self.chosen.replace(state)
    }
}

const ZERO: u64 = 2;
const ONE: u64 = 4;

/// A number for a condition without its blanks and comments, odd where it is negated.
fn sign(condition: &[u8]) -> (u64, bool) {
    let mut negated = false;
    let mut rest = condition.trim_ascii();
    if let Some(name) = rest.strip_prefix(b"ifndef ") {
        negated = true;
        rest = name;
    } else if let Some(name) = rest.strip_prefix(b"ifdef ") {
        rest = name;
    }
    while let Some(name) = rest.strip_prefix(b"!") {
        negated = !negated;
        rest = name.trim_ascii_start();
    }
    let cut = memchr::memmem::find(rest, b"/*").into_iter().chain(memchr::memmem::find(rest, b"//")).min();
    rest = rest[..cut.unwrap_or(rest.len())].trim_ascii();
    if let Some(name) = rest.strip_prefix(b"defined") {
        let name = name.trim_ascii();
        let name =
            name.strip_prefix(b"(").and_then(|name| name.strip_suffix(b")")).unwrap_or(name).trim_ascii();
        if name.iter().all(|byte| super::bytes::in_word(*byte)) {
            rest = name;
        }
    }
    match rest {
        b"0" | b"false" => return (ZERO, negated),
        b"1" | b"true" => return (ONE, negated),
        _ => {}
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in rest.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'\\') {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    ((hash | 8) & !1 | u64::from(negated), negated)
}
