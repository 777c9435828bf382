//! The places where something nearer than the target has its name.

use tectum_syntax::{Mention, Role, Shadow, Span, Stop, Unparsed};

use super::{
    knows::Knows,
    target::{File, Target},
    verdict::Hidden,
};

/// Scopes that bind the old name anew and so hide the target.
pub(super) struct Hides {
    pub(super) shadows: Vec<Shadow>,
    /// The scopes that bind the target itself.
    pub(super) own: Vec<Span>,
}

impl Hides {
    /// The visibility of the target at a place.
    pub(super) fn at(&self, file: &File<'_>, mention: &Mention) -> Hidden {
        let Some(shadow) = Shadow::over(&self.shadows, mention.span) else { return Hidden::No };
        let apart = file.language.pack().style.calls_apart && mention.role == Role::Call;
        match shadow.sure {
            _ if apart || self.own.contains(&shadow.scope) => Hidden::No,
            true => Hidden::Yes,
            false => Hidden::Maybe,
        }
    }
}

impl Target {
    /// The places where the old name is bound anew in a file.
    pub(super) fn hides(
        &self,
        file: &File<'_>,
        own: bool,
        knows: &Knows,
        stop: Stop<'_>,
    ) -> Result<Hides, Unparsed> {
        let shadows = file.language.shadows(file.text, &self.old, stop)?;
        let mut meant: Vec<Span> = own.then_some(self.name).into_iter().collect();
        meant.extend(&knows.imported);
        // A scope that binds the very symbol, or imports it, does not hide it.
        let scope = |place: &Span| Shadow::over(&shadows, *place).map(|shadow| shadow.scope);
        let mut own: Vec<Span> = meant.iter().filter_map(scope).collect();
        for import in &knows.imported {
            let inside = shadows.iter().filter(|shadow| import.meets(shadow.span));
            own.extend(inside.map(|shadow| shadow.scope));
        }
        Ok(Hides { shadows, own })
    }
}
