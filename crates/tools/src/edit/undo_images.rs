//! The before-images of many calls, in the project or for a copy of it.

use std::path::PathBuf;

use tectum_core::CallId;

use super::{
    pen::Pen,
    undo::UndoStore,
    undo_record::{Left, Record, Was},
};
use crate::Settings;

/// The changes of calls, the newest first.
pub(super) type Records = Vec<(CallId, Record<'static>)>;

/// The before-images, and who writes.
#[derive(Debug)]
pub(super) struct Images {
    pub(super) pen: Pen,
    copy: Option<Copy>,
}

/// A copy of a project: it is written, and the project's before-images are only read.
#[derive(Debug)]
struct Copy {
    images: UndoStore,
    project: String,
    copy: String,
}

impl Images {
    /// Those of the project.
    pub(super) fn new(settings: &Settings) -> Self {
        Self { pen: Pen::new(settings), copy: None }
    }

    /// Those of a project, which are kept in this directory, for its copy.
    pub(super) fn in_copy(
        settings: &Settings,
        images: Option<PathBuf>,
        (project, copy): (String, String),
    ) -> Self {
        let images = UndoStore::new(images, settings.durability);
        Self { pen: Pen::new(settings), copy: Some(Copy { images, project, copy }) }
    }

    /// The changes of these calls, as far as they were kept.
    pub(super) fn records(&self, calls: &[String]) -> Records {
        let ids = calls.iter().filter_map(|call| CallId::parse(call));
        ids.filter_map(|call| Some((call, self.record(call)?))).collect()
    }

    /// The record of a call, with the names that its files have here.
    pub(super) fn record(&self, call: CallId) -> Option<Record<'static>> {
        let images = self.copy.as_ref().map_or(&self.pen.undo, |copy| &copy.images);
        let mut record = images.find(call).ok()?;
        if let Some(copy) = &self.copy {
            copy.place_all(&mut record);
        }
        Some(record)
    }
}

impl Copy {
    fn place_all(&self, record: &mut Record<'_>) {
        for step in &mut record.steps {
            step.path = self.place(&step.path);
            if let Was::Elsewhere(from) = &mut step.was {
                *from = self.place(from);
            }
            if let Left::Object(..) = step.left {
                // What was copied is another object.
                step.left = Left::Anything;
            }
        }
    }

    fn place(&self, path: &str) -> String {
        match path.strip_prefix(&self.project) {
            Some(below) if below.starts_with('/') => format!("{}{below}", self.copy),
            _ => path.to_owned(),
        }
    }
}
