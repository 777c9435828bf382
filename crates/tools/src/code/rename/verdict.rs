//! The meaning of a place with the old name.

/// The judgement of a place that may mean the target, the surest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It means something else.
    Other,
    /// It may mean the target: it is listed and stays.
    Maybe,
    /// It means the target.
    Target,
}

impl Verdict {
    /// The target where it is sure, maybe where not.
    pub(super) fn sure_if(sure: bool) -> Self {
        if sure { Self::Target } else { Self::Maybe }
    }

    /// This verdict where the condition holds, something else where not.
    pub(super) fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::Other }
    }

    /// The same without certainty.
    pub(super) fn at_most_maybe(self) -> Self {
        self.min(Self::Maybe)
    }
}

/// The visibility of the target behind something nearer of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    No,
    /// That depends on the run.
    Maybe,
    Yes,
}

impl Hidden {
    /// The meaning of a place, if `plainly` is its meaning where nothing hides the target.
    pub(super) fn or(self, plainly: Verdict) -> Verdict {
        match self {
            Self::No => plainly,
            Self::Maybe => plainly.at_most_maybe(),
            Self::Yes => Verdict::Other,
        }
    }
}
