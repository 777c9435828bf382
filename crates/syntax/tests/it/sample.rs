//! The small projects in `packs/<id>/sample/`.

use std::{path::Path, sync::Arc};

use tectum_syntax::{Language, Packs};

/// A file of a sample.
pub(crate) struct Sample {
    pub(crate) language: Arc<Language>,
    pub(crate) file: String,
    pub(crate) text: String,
}

/// The files of all samples, in order. A pack that can tell nothing yet has none.
pub(crate) fn all() -> Vec<Sample> {
    let packs = Packs::all();
    packs.iter().filter(|language| tells(language)).flat_map(of).collect()
}

/// True if a pack has a query for symbols or a front end.
pub(crate) fn tells(language: &Language) -> bool {
    language.skims() || !language.pack().queries.symbols.trim().is_empty()
}

#[expect(clippy::disallowed_methods, reason = "the samples are files of this crate")]
fn of(language: &Arc<Language>) -> Vec<Sample> {
    let id = language.pack().id;
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("packs").join(id).join("sample");
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{id} has no sample: {error}"));
    let mut files: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let read = |file: String| {
        let text = std::fs::read_to_string(directory.join(&file)).unwrap();
        Sample { language: language.clone(), file, text }
    };
    files.into_iter().map(read).collect()
}
