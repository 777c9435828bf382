//! Which namespace of a file a plain name is looked up in: several of one name may stand in as many
//! modules of a file.

use tectum_syntax::{Kind, Outline, Span, names};

use super::target::{File, Target};

impl Target {
    /// Whether a plain name in the target's own file is looked up where the target is; none where
    /// nothing around it has the name.
    pub(super) fn is_in_its_space(&self, file: &File<'_>, place: Span) -> Option<bool> {
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
            members.any(|(_, symbol)| symbol.name.of(file.text) == self.old && symbol.scope.is_empty())
        };
        let found = around.find(has_it)?;
        Some(path(file.text, file.outline, found) == self.space)
    }
}

/// The parts of a namespace's name; none for the file itself.
pub(super) fn path(text: &str, outline: &Outline, space: Option<u32>) -> Vec<String> {
    let parts = space.map(|index| names::path(text, outline, index)).unwrap_or_default();
    parts.into_iter().map(str::to_owned).collect()
}
