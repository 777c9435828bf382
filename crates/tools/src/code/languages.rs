//! The languages of this build, which of them a row is for, and the bounds under which sources are
//! read.

use std::sync::Arc;

use tectum_core::Fault;
use tectum_syntax::{Language, Packs, Shelf};

use crate::{Settings, Threads};

/// The memory that the parsed files of a process may take together, trees included.
const SHELF_BYTES: usize = 96 * 1024 * 1024;

/// Everything needed to read sources in any language.
#[derive(Debug)]
pub(crate) struct Languages {
    pub(crate) packs: Packs,
    pub(crate) shelf: Shelf,
    pub(crate) threads: Threads,
    pub(crate) max_file: u64,
}

impl Languages {
    pub(super) fn new(settings: &Settings, packs: Packs) -> Self {
        let (threads, max_file) = (settings.threads, settings.max_file);
        Self { packs, shelf: Shelf::new(SHELF_BYTES), threads, max_file }
    }

    /// The language of a file that a row is asked about.
    pub(crate) fn find(&self, name: &str, text: &str, only: Only) -> Result<Arc<Language>, Fault> {
        let found = self.packs.of_file(name, text);
        let Only::One(id) = only else {
            let fits = |language: &&Arc<Language>| only == Only::Outlined || language.pack().is_code();
            return found.filter(fits).cloned().ok_or_else(|| self.no_pack(name));
        };
        let wanted = self.packs.named(id).ok_or_else(|| Fault::invalid(format!("this build has no {id}")))?;
        let header = matches!(id, "c" | "cpp") && name.ends_with(".h");
        if header || found.is_some_and(|language| language.pack().id == id) {
            return Ok(wanted.clone());
        }
        let title = wanted.pack().title;
        Err(Fault::invalid(format!("not a {title} file: {name}"))
            .hint("the code_* tools take a file of any language that has a pack"))
    }

    fn no_pack(&self, name: &str) -> Fault {
        let known = self.packs.iter().map(|language| language.pack()).filter(|pack| pack.is_code());
        let known: Vec<&str> = known.map(|pack| pack.title).collect();
        Fault::invalid(format!("no language pack for {name}")).hint(format!(
            "known languages: {}; read_file and search_content take any text",
            known.join(", ")
        ))
    }
}

/// The languages that a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Any that has a pack.
    Any,
    /// The same, and files that are no code but have an outline.
    Outlined,
    /// One, by its pack's short name. A `.h` file is taken for either of C and C++.
    One(&'static str),
}

impl Only {
    /// A word for it, empty for any.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Any | Self::Outlined => "",
            Self::One(id) => id,
        }
    }
}
