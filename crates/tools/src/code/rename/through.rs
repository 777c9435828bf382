//! The places that take a name from an imported module, `pkg.core.name`, and the check that it is the
//! target's.

use std::collections::{HashMap, HashSet};

use tectum_syntax::{Import, Mention, Shadow, Span, Stop, Unparsed};

use super::{
    super::modules::Module,
    around::chain,
    target::{File, Target},
    verdict::Verdict,
};

/// The places of a file that are taken from an imported name, with what they mean.
pub(super) struct Through {
    places: HashMap<Span, Verdict>,
    /// Places whose qualifier is a module itself, not something in it.
    of_module: HashSet<Span>,
}

impl Through {
    pub(super) fn find(
        target: &Target,
        file: &File<'_>,
        imports: &[Import],
        mentions: &[Mention],
        stop: Stop<'_>,
    ) -> Result<Self, Unparsed> {
        let (mut places, mut of_module) = (HashMap::new(), HashSet::new());
        let mut shadows: HashMap<&str, Vec<Shadow>> = HashMap::new();
        for mention in mentions.iter().filter(|mention| mention.role.is_code()) {
            let parts = chain(file.text, mention, &file.language.pack().style);
            let Some((head, further)) = parts.split_first() else { continue };
            let known: Vec<&Import> =
                imports.iter().filter(|import| import.local.as_deref() == Some(head)).collect();
            if known.is_empty() {
                continue;
            }
            let hidden = match shadows.get(head) {
                Some(shadows) => shadows,
                None => {
                    let found = file.language.shadows(file.text, head, stop)?;
                    shadows.entry(head).or_insert(found)
                }
            };
            let meant = known.iter().map(|import| leads(target, file, import, further)).max();
            let meant = meant.unwrap_or(Verdict::Other);
            // A parameter of the module's name may be the module or anything else.
            let hidden = hidden.iter().any(|shadow| {
                let imports = |import: &&Import| shadow.scope.holds(import.span);
                shadow.span.holds(mention.span) && !known.iter().any(imports)
            });
            // `import a.b` makes no more than `a.b` a module; what it holds may be anything.
            let whole = |import: &&Import| {
                let deep = import.module.split('.').count();
                import.name.is_none() && further.len() < deep
            };
            if !hidden && known.iter().any(whole) {
                of_module.insert(mention.span);
            }
            places.insert(mention.span, if hidden { meant.at_most_maybe() } else { meant });
        }
        Ok(Self { places, of_module })
    }

    /// True if a place is taken from an imported module, not from something in it.
    pub(super) fn is_module(&self, place: Span) -> bool {
        self.of_module.contains(&place)
    }

    /// The verdict about a place, if it is taken from an imported name.
    pub(super) fn verdict(&self, place: Span) -> Option<Verdict> {
        self.places.get(&place).copied()
    }
}

/// The meaning of these names, taken from what an import made known.
fn leads(target: &Target, file: &File<'_>, import: &Import, further: &[&str]) -> Verdict {
    let module = Module::bound(import, file.name, further);
    if target.leads(&module, file) {
        return Verdict::Target;
    }
    let named: Vec<&str> = further.iter().copied().chain([target.old.as_str()]).collect();
    if target.is_namesake(import, file, &named) {
        return Verdict::Other;
    }
    let reach = file.language.pack().style.reach;
    let above = module.is_above(&target.file, reach);
    Verdict::Maybe.only_if(above || (target.unique && module.is_called(&target.file)))
}
