//! The namespace of a file in which a plain name is looked up: several of one name may stand in as many
//! modules of a file.

use tectum_syntax::{Kind, Span};

use super::target::{File, Target, space_path};

/// The namespace in which a plain name in the target's own file is looked up.
pub(super) enum Space {
    /// In the namespace of the target.
    Its,
    /// In a namespace that has something else of the name.
    Another,
    /// No namespace around it has the name.
    Nowhere,
}

impl Target {
    /// The innermost namespace around a place that has the name.
    pub(super) fn space_of(&self, file: &File<'_>, place: Span) -> Space {
        let mut spaces: Vec<u32> = (0u32..)
            .zip(&file.outline.symbols)
            .filter(|(_, symbol)| symbol.kind == Kind::Namespace && symbol.whole.holds(place))
            .map(|(index, _)| index)
            .collect();
        // From the innermost to the file itself.
        spaces.reverse();
        let mut around = spaces.into_iter().map(Some).chain([None]);
        let has_it = |space: &Option<u32>| {
            let mut members = file.outline.children(*space);
            members.any(|(_, symbol)| symbol.name.slice(file.text) == self.old && symbol.scope.is_empty())
        };
        match around.find(has_it) {
            Some(found) if space_path(file.text, file.outline, found) == self.space => Space::Its,
            Some(_) => Space::Another,
            None => Space::Nowhere,
        }
    }
}
