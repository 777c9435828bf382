//! The check that the new name is free where the target is meant: nothing else has it there, and
//! nothing that has it now would mean the target afterwards.

use tectum_syntax::{Bodies, Import, Mention, Role, Shadow, Span, Stop, Symbol, Unparsed};

use super::{
    around::{chain, is_other_name, is_parameter},
    hides::Hides,
    knows::{Knows, Plainly},
    literal::is_key,
    target::{File, Home, Target},
};

/// The reason why the new name cannot be used in a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clash {
    /// It is defined or imported there.
    Known,
    /// The target is meant at a place where the new name is a parameter or local variable.
    Captured(Span),
    /// A place uses the new name, and would mean the target.
    Used(Span),
}

/// A file with the imports and scopes that decide about the target in it.
pub(super) struct Scene<'s> {
    pub(super) file: &'s File<'s>,
    pub(super) own: bool,
    pub(super) imports: &'s [Import],
    pub(super) knows: &'s Knows,
    pub(super) hides: &'s Hides,
}

impl Target {
    /// The objection to the new name in a file, where `certain` are the places that change.
    pub(super) fn clash(
        &self,
        scene: &Scene<'_>,
        certain: &[&Mention],
        stop: Stop<'_>,
    ) -> Result<Option<Clash>, Unparsed> {
        let file = scene.file;
        if certain.is_empty() {
            return Ok(None);
        }
        let shadows = file.language.shadows(file.text, &self.new, stop)?;
        if self.is_known(scene, &shadows) {
            return Ok(Some(Clash::Known));
        }
        let plain = |mention: &&&Mention| {
            !mention.member && chain(file.text, mention, &file.language.pack().style).is_empty()
        };
        let captured = certain.iter().filter(plain).find(|mention| {
            let apart = file.language.pack().style.calls_apart && mention.role == Role::Call;
            let shadow = Shadow::over(&shadows, mention.span).filter(|_| !apart);
            shadow.is_some_and(|shadow| scene.is_inside(shadow.scope))
        });
        if let Some(mention) = captured {
            return Ok(Some(Clash::Captured(mention.span)));
        }
        let becomes_known = certain.iter().any(|mention| plain(&mention));
        if !becomes_known || (matches!(self.home, Home::File) && scene.knows.plainly != Plainly::Yes) {
            return Ok(None);
        }
        let mentions = file.language.mentions(file.text, &self.new, stop)?;
        let used = mentions.iter().find(|mention| {
            let nearer = Shadow::over(&shadows, mention.span);
            let nearer = nearer.is_some_and(|shadow| scene.is_inside(shadow.scope));
            !nearer && self.would_mean(scene, mention)
        });
        Ok(used.map(|mention| Clash::Used(mention.span)))
    }

    /// True if the scope of the target has the new name already, where these are the stretches
    /// that bind it for themselves.
    fn is_known(&self, scene: &Scene<'_>, shadows: &[Shadow]) -> bool {
        let Scene { file, own, imports, .. } = *scene;
        let called = |symbol: &&Symbol| symbol.name.slice(file.text) == self.new;
        match &self.home {
            Home::File => {
                let defined = file.outline.children(None).any(|(_, symbol)| called(&symbol));
                let mut named = imports.iter().filter(|import| import.local.as_ref() == Some(&self.new));
                // What a function imports for itself is known to nobody outside of it.
                let for_itself =
                    |import: &Import| shadows.iter().any(|shadow| shadow.span.meets(import.span));
                defined || named.any(|import| !for_itself(import))
            }
            Home::Type(_, around) | Home::Function(around) if own => {
                let inside = |symbol: &&Symbol| around.holds(symbol.whole) && symbol.whole != *around;
                file.outline.symbols.iter().filter(inside).any(|symbol| called(&symbol))
            }
            _ => false,
        }
    }

    /// True if a use of the new name that nothing nearer hides would mean the target.
    fn would_mean(&self, scene: &Scene<'_>, mention: &Mention) -> bool {
        let file = scene.file;
        let style = &file.language.pack().style;
        // The name of an argument or a key means what it meant.
        let named =
            mention.member || mention.role == Role::Attribute || is_other_name(file.text, mention.span);
        let named = named || is_parameter(file.text, mention.span, style);
        let named = named || self.is_module_word(file, scene.imports, mention);
        let keyed = style.bodies != Bodies::Indented && mention.role != Role::Call;
        let keyed = keyed && is_key(file.text, mention.span);
        let apart = style.calls_apart && self.callable && mention.role != Role::Call;
        if !mention.role.is_code() || named || keyed || apart || !chain(file.text, mention, style).is_empty()
        {
            return false;
        }
        // What defines a member of something defines no name of the file.
        if file.outline.symbols.iter().any(|symbol| symbol.name == mention.span) {
            return false;
        }
        let bound_there = Shadow::over(&scene.hides.shadows, mention.span)
            .is_some_and(|shadow| scene.hides.own.contains(&shadow.scope));
        match &self.home {
            Home::File => true,
            Home::Function(around) => scene.own && around.holds(mention.span),
            Home::Type(_, around) => {
                let fits = (mention.role == Role::Call) == self.callable;
                let implicit = style.implicit_receiver && fits && around.holds(mention.span);
                scene.own && (implicit || bound_there)
            }
        }
    }
}

impl Scene<'_> {
    /// True if a scope lies inside the scope that binds the target.
    fn is_inside(&self, scope: Span) -> bool {
        self.hides.own.is_empty() || self.hides.own.iter().any(|own| own.holds(scope))
    }
}
