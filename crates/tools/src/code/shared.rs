//! The state that all code tools share, and the way they open a file.

use std::sync::Arc;

use tectum_core::{Ctx, Fault};
use tectum_syntax::Packs;

use super::{
    drawn::OutlineCache,
    languages::{Languages, Only},
    lookup::Opened,
    project::Project,
    rename::ShownPlans,
};
use crate::{Settings, edit::Pen, text::TextFile};

/// The state that all code tools share.
#[derive(Debug)]
pub struct Code {
    pub(crate) languages: Languages,
    pub(crate) pen: Arc<Pen>,
    pub(crate) drawn: OutlineCache,
    pub(crate) plans: ShownPlans,
    pub(crate) project: Project,
}

impl Code {
    /// With these settings and this pen.
    pub fn new(settings: &Settings, pen: Arc<Pen>, packs: Packs) -> Self {
        let languages = Languages::new(settings, packs);
        Self {
            languages,
            pen,
            drawn: OutlineCache::default(),
            plans: ShownPlans::default(),
            project: Project::new(true),
        }
    }

    /// The same without a watch over the project: every question compares the stamps of all
    /// files, as on systems that have none.
    pub fn without_watch(mut self) -> Self {
        self.project = Project::new(false);
        self
    }

    /// The number of sources that were known when they were asked for, and the number asked for.
    pub(crate) fn cache(&self) -> (u64, u64) {
        self.languages.shelf.counts()
    }

    /// The call's `index`th path, as source.
    pub(crate) fn open(&self, ctx: &Ctx, index: usize, only: Only) -> Result<Opened, Fault> {
        let (name, file) = TextFile::of_call(ctx, index, self.languages.max_file)?;
        self.opened(name, file, only)
    }

    /// A file that was read already, as source.
    pub(crate) fn opened(&self, name: String, file: TextFile, only: Only) -> Result<Opened, Fault> {
        let language = self.languages.find(&name, file.text(), only)?;
        let source = self.languages.shelf.source(&language, file.text());
        Ok(Opened { name, file, source })
    }
}
