//! Facts about all sources of a project, kept fresh by a watch.
//!
//! Nothing is read before somebody asks, and no file is parsed that a plain search shows to be
//! beside the question. What was found out is kept for each version of a file, up to a number
//! of bytes; a version lives until the watch, or its stamp, says that the file changed.
//!
//! What is kept belongs to one view: one directory under one policy and one set of hiding
//! rules. Another view never sees it.

mod ahead;
mod content;
mod counted;
mod entry;
mod facts;
mod ledger;
mod memo;
mod reader;
mod rules;
mod sources;
mod tree;
pub(crate) mod words;

use std::sync::Arc;

use parking_lot::Mutex;
use tectum_core::{
    Ctx, Fault,
    security::{Kind, SafePath},
};

pub(crate) use ahead::{Ahead, Defining};
pub(crate) use content::{FileContent, Needle};
pub(crate) use entry::Entry;
pub(crate) use facts::{Fact, SourceFacts};
pub(crate) use memo::{Memo, Remembered};
pub(crate) use reader::Reader;
pub(crate) use sources::Sources;

use self::{ledger::Ledger, tree::SourceTree};
use super::languages::Languages;

/// Trees kept at a time. An agent asks about its project, now and then about a part of it.
const MOST_TREES: usize = 4;
/// The memory that the facts of all trees may take together.
const MOST_FACTS: usize = 128 * 1024 * 1024;

/// The trees that were asked about lately, the latest last.
#[derive(Debug)]
pub(crate) struct Project {
    trees: Mutex<Vec<Arc<SourceTree>>>,
    ledger: Arc<Ledger>,
    /// True if the system reports changes; otherwise every question compares stamps.
    watching: bool,
}

impl Project {
    /// Nothing is known yet.
    pub(crate) fn new(watching: bool) -> Self {
        Self::bounded(watching, MOST_FACTS)
    }

    fn bounded(watching: bool, most: usize) -> Self {
        Self { trees: Mutex::default(), ledger: Arc::new(Ledger::new(most)), watching }
    }

    /// The sources of the call's `index`th path as they are now: one file, or all below a
    /// directory.
    pub(crate) fn sources<'q>(
        &self,
        languages: &'q Languages,
        ctx: &'q Ctx,
        index: usize,
    ) -> Result<Sources<'q>, Fault> {
        self.look(languages, ctx, index, None)
    }

    /// The same for a question that will look at all of them, and begins while they are listed.
    pub(crate) fn sources_ahead<'q>(
        &self,
        languages: &'q Languages,
        ctx: &'q Ctx,
        index: usize,
        ahead: &dyn Ahead,
    ) -> Result<Sources<'q>, Fault> {
        self.look(languages, ctx, index, Some(ahead))
    }

    fn look<'q>(
        &self,
        languages: &'q Languages,
        ctx: &'q Ctx,
        index: usize,
        ahead: Option<&dyn Ahead>,
    ) -> Result<Sources<'q>, Fault> {
        let start = ctx.path(index)?;
        if start.kind().is_some_and(|kind| kind != Kind::Directory) {
            start.file()?;
            return Ok(Sources::one(languages, ctx, start, self.ledger.clone()));
        }
        self.sweep();
        let tree = self.tree(start);
        let now = tree.now(Reader { languages, ctx, ledger: &self.ledger }, start, ahead)?;
        Ok(Sources::below(languages, ctx, start, tree, now, self.ledger.clone()))
    }

    fn tree(&self, start: &SafePath) -> Arc<SourceTree> {
        let mut trees = self.trees.lock();
        if let Some(at) = trees.iter().position(|tree| tree.view().serves(start)) {
            let tree = trees.remove(at);
            trees.push(tree.clone());
            return tree;
        }
        // Hiding rules are made anew for each call that has some: their trees take the place of
        // each other, so that they do not push out everything else.
        trees.retain(|tree| !tree.view().yields_to(start));
        if trees.len() >= MOST_TREES {
            trees.remove(0);
        }
        let tree = Arc::new(SourceTree::new(start, self.watching));
        trees.push(tree.clone());
        tree
    }

    /// Evicts the least recently used facts when there are too many.
    fn sweep(&self) {
        if !self.ledger.is_over() {
            return;
        }
        let trees = self.trees.lock().clone();
        let mut kept: Vec<(u64, usize, Arc<Entry>)> = trees.iter().flat_map(|tree| tree.kept()).collect();
        kept.sort_unstable_by_key(|(used, ..)| *used);
        let mut over = self.ledger.over();
        for (_, weight, entry) in kept {
            if over == 0 {
                break;
            }
            entry.forget();
            over = over.saturating_sub(weight);
        }
    }
}

#[cfg(test)]
mod tests;
