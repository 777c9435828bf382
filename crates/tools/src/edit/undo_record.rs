//! A change that can be undone: what stood at each path before, and what the call left there.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Records kept in memory: more than a person will ever walk back.
pub(super) const MOST_RECORDS: usize = 200;
/// The reason for not keeping a record that no bound has room for.
pub(super) const TOO_LARGE: &str = "it is larger than all that is kept";

/// One change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) steps: Vec<UndoStep<'a>>,
}

/// The effect of one call on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UndoStep<'a> {
    /// The full true name.
    pub(super) path: String,
    pub(super) was: Was<'a>,
    pub(super) left: Left,
    /// How many folders on the way to it the call made.
    pub(super) made: usize,
}

/// The content before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Was<'a> {
    Nothing,
    File(Image<'a>),
    /// The thing came from this other path.
    Elsewhere(String),
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Its permission bits.
    pub(super) mode: u32,
}

/// The content after the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Left {
    Nothing,
    /// Content with this revision.
    Revision(String),
    /// A directory, a link, a very large file: not its content but its device and inode count.
    Object(u64, u64),
    /// Something that is not compared.
    Anything,
}

impl Record<'_> {
    /// The bytes of its images.
    pub(super) fn size(&self) -> u64 {
        let image = |step: &UndoStep<'_>| match &step.was {
            Was::File(image) => image.bytes.len() as u64,
            _ => 0,
        };
        self.steps.iter().map(image).sum()
    }

    pub(super) fn into_owned(self) -> Record<'static> {
        let own = |step: UndoStep<'_>| {
            let was = match step.was {
                Was::Nothing => Was::Nothing,
                Was::File(image) => Was::File(image.into_owned()),
                Was::Elsewhere(from) => Was::Elsewhere(from),
            };
            UndoStep { path: step.path, was, left: step.left, made: step.made }
        };
        Record { steps: self.steps.into_iter().map(own).collect() }
    }
}

impl Image<'_> {
    pub(super) fn into_owned(self) -> Image<'static> {
        Image { bytes: self.bytes.into_owned().into(), mode: self.mode }
    }
}
