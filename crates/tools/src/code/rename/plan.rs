//! The plan of a rename: which places of which files change, and which may mean the symbol and stay.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Detail, Span};

use super::{
    super::{Code, Only, Opened, lookup::unparsed},
    Place,
    target::{File, Places, Target},
};
use crate::text::{Lines, revision};

/// Files of one rename: a larger one is better done in parts.
const MOST_FILES: usize = 500;

/// What a rename changes, file by file.
#[derive(Debug)]
pub(super) struct Plan {
    /// The defining file first.
    pub(super) files: Vec<Planned>,
}

/// The part of one file.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) revision: String,
    pub(super) places: Places,
    pub(super) lines: Vec<usize>,
    pub(super) uncertain: Vec<Place>,
}

impl Plan {
    /// Looks through the files that hold the name.
    pub(super) fn make(code: &Code, ctx: &Ctx, opened: &Opened, target: &mut Target) -> Result<Self, Fault> {
        let stop = || ctx.cancel.is_cancelled();
        let sources = code.project.sources(code, ctx, 1)?;
        let family = opened.source.language().pack().family;
        let holding = sources.holding(&[&target.old], Only::Any)?;
        let named: usize = sources
            .facts(&holding, Only::Any, false)?
            .iter()
            .map(|(_, facts)| {
                facts
                    .symbols
                    .iter()
                    .filter(|fact| facts.name(fact) == target.old && !fact.declaration)
                    .count()
            })
            .sum();
        target.unique = named <= 1;
        let target = &*target;
        let read = sources.each(&holding, |entry, content| {
            let text = content.text()?;
            let language = sources.language(entry, &text, Only::Any)?;
            let related = language.pack().family == family;
            let name = sources.spell(entry);
            (related && name != target.file).then(|| {
                let outline = language.outline(&text, Detail::Full, &stop)?;
                let file = File { name: &name, text: &text, language: &language, outline: &outline };
                let places = target.places(&file, &stop)?;
                Ok(Planned::new(name.clone(), &text, places))
            })
        })?;
        let mut files = vec![own(ctx, opened, target)?];
        for (_, planned) in read {
            let planned = planned.map_err(|why| unparsed("a file of the project", why))?;
            if !planned.places.certain.is_empty()
                || !planned.uncertain.is_empty()
                || planned.places.in_text > 0
            {
                files.push(planned);
            }
        }
        let changed = files.iter().filter(|file| !file.places.certain.is_empty()).count();
        if changed > MOST_FILES {
            return Err(Fault::invalid(format!(
                "{changed} files would change, and at most {MOST_FILES} may at once"
            ))
            .hint("give a smaller directory as `within`"));
        }
        Ok(Self { files })
    }

    /// The files in which something changes.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Planned> {
        self.files.iter().filter(|file| !file.places.certain.is_empty())
    }

    /// Names the plan: the files as they are, and what changes in them.
    pub(super) fn digest(&self, target: &Target) -> String {
        let mut hasher = blake3::Hasher::new();
        for file in self.changed() {
            let places: Vec<u32> = file.places.certain.iter().map(|place| place.start).collect();
            hasher.update(format!("{}\0{}\0{places:?}\0", file.name, file.revision).as_bytes());
        }
        hasher.update(target.new.as_bytes());
        let mut hex = hasher.finalize().to_hex().to_string();
        hex.truncate(16);
        hex
    }

    /// Refuses a list of files that is not the plan's.
    pub(super) fn check_files(&self, ctx: &Ctx) -> Result<(), Fault> {
        let given: Vec<String> = ctx.grants.paths()[2..].iter().map(|path| path.name()).collect();
        let missing: Vec<&str> = self
            .changed()
            .map(|file| file.name.as_str())
            .filter(|name| !given.iter().any(|other| other == name))
            .collect();
        let surplus = given.iter().find(|name| !self.changed().any(|file| file.name == **name));
        if !missing.is_empty() {
            return Err(Fault::conflict(format!(
                "the plan also changes {}; nothing was changed",
                missing.join(", ")
            ))
            .hint("list all files of the plan in apply_to: a rename is done everywhere or nowhere"));
        }
        match surplus {
            Some(name) => {
                Err(Fault::conflict(format!("the plan changes nothing in {name}; nothing was changed"))
                    .hint("list exactly the files of the plan in apply_to"))
            }
            None => Ok(()),
        }
    }
}

impl Planned {
    fn new(name: String, text: &str, places: Places) -> Self {
        let all = Lines::of(text);
        let mut lines: Vec<usize> = places.certain.iter().map(|place| all.at(place.start as usize)).collect();
        lines.dedup();
        let shown = |place: &Span| {
            let line = all.at(place.start as usize);
            let written = all.range(line).map_or("", |range| text[range].trim());
            Place { path: name.clone(), line, text: written.chars().take(120).collect() }
        };
        let uncertain = places.uncertain.iter().map(shown).collect();
        Self { revision: revision(text.as_bytes()), places, lines, uncertain, name }
    }
}

/// The defining file's part.
fn own(ctx: &Ctx, opened: &Opened, target: &Target) -> Result<Planned, Fault> {
    let outline = opened.outline(ctx, Detail::Full)?;
    let file = File {
        name: &opened.name,
        text: opened.text(),
        language: opened.source.language(),
        outline: &outline,
    };
    let places =
        target.places(&file, &|| ctx.cancel.is_cancelled()).map_err(|why| unparsed(&opened.name, why))?;
    Ok(Planned::new(opened.name.clone(), opened.text(), places))
}
