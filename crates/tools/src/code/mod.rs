//! The code tools: seeing and changing code by symbol, in any language that has a pack.
//!
//! What a text means is the business of `tectum-syntax`; here its answers meet the project's
//! files. No tool knows a language by name: the names `py_*`, `ts_c_*` and `ts_cpp_*` are rows
//! of the same table as `code_*`, bound to one pack.

mod add;
mod anchor;
pub mod args;
mod cap;
mod carried;
pub mod change;
pub mod check;
pub mod class_summary;
pub mod definition;
pub mod derive_code_path;
pub mod docs;
pub mod hierarchy;
pub mod imports;
mod left;
pub mod lookup;
mod modules;
pub mod move_def;
pub mod outline;
pub(crate) mod project;
mod region;
mod remove;
pub mod rename;
pub mod repo_map;
pub mod skeleton;
pub mod summary;
mod table;
mod update;
pub mod usages;
mod wrapped;

use std::sync::Arc;

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Language, Packs, Shelf, Source};

use self::project::Project;
use crate::{Settings, Threads, edit::Pen, text::TextFile};

pub use table::rows;

/// What the parsed files of a process may weigh together, trees included.
const SHELF_BYTES: usize = 96 * 1024 * 1024;

/// What all code tools share.
#[derive(Debug)]
pub struct Code {
    pub(crate) packs: Packs,
    pub(crate) shelf: Shelf,
    pub(crate) pen: Arc<Pen>,
    pub(crate) drawn: outline::Drawn,
    pub(crate) plans: rename::Shown,
    pub(crate) threads: Threads,
    pub(crate) max_file: u64,
    pub(crate) project: Project,
}

/// Which languages a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Any that has a pack.
    Any,
    /// One, by its pack's short name. A `.h` file is taken for either of C and C++.
    One(&'static str),
}

impl Only {
    /// A word for it, empty for any.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::One(id) => id,
        }
    }
}

/// A file of the project and the language it is in.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) file: TextFile,
    pub(crate) source: Arc<Source>,
}

impl Code {
    /// With these settings and this pen.
    pub fn new(settings: &Settings, pen: Arc<Pen>, packs: Packs) -> Self {
        let (threads, max_file) = (settings.threads, settings.max_file);
        let project = Project::new(true);
        Self {
            packs,
            shelf: Shelf::new(SHELF_BYTES),
            pen,
            drawn: outline::Drawn::default(),
            plans: rename::Shown::default(),
            threads,
            max_file,
            project,
        }
    }

    /// The same without a watch over the project: every question compares the stamps of all
    /// files, as on systems that have none.
    pub fn without_watch(mut self) -> Self {
        self.project = Project::new(false);
        self
    }

    /// The call's `index`th path, as source.
    pub(crate) fn open(&self, ctx: &Ctx, index: usize, only: Only) -> Result<Opened, Fault> {
        let path = ctx.path(index)?;
        let name = path.name();
        let bytes = path.file()?.bytes(self.max_file)?;
        let file = TextFile::decode(bytes).map_err(|not_text| not_text.fault(&name))?;
        self.opened(name, file, only)
    }

    /// A file that was read already, as source.
    pub(crate) fn opened(&self, name: String, file: TextFile, only: Only) -> Result<Opened, Fault> {
        let language = self.language(&name, file.text(), only)?;
        let source = self.shelf.source(&language, file.text());
        Ok(Opened { name, file, source })
    }

    /// The language of a file that a row is asked about.
    pub(crate) fn language(&self, name: &str, text: &str, only: Only) -> Result<Arc<Language>, Fault> {
        let found = self.packs.of_file(name, text);
        let Only::One(id) = only else {
            return found.cloned().ok_or_else(|| self.no_pack(name));
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
        let known: Vec<&str> = self.packs.iter().map(|language| language.pack().title).collect();
        Fault::invalid(format!("no language pack for {name}")).hint(format!(
            "known languages: {}; read_file and search_content take any text",
            known.join(", ")
        ))
    }
}
