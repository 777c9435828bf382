//! The knowledge of a file about the target of a rename by its imports, and by being near.

use tectum_syntax::{Import, Mention, Reach, Role, Span, Stop, Unparsed};

use super::{
    super::modules::{Module, folder, stem},
    around::{is_of_module, is_of_path},
    target::{File, Target},
};

/// The ways in which a file can name the target.
pub(super) struct Knows {
    /// The meaning of the plain name.
    pub(super) plainly: Plainly,
    /// Local names of the target's module.
    pub(super) modules: Vec<String>,
    /// The statements that import it, or that may where none certainly does.
    pub(super) imported: Vec<Span>,
    /// In the target's own file, those that import something else of its name under another.
    pub(super) foreign: Vec<Span>,
    /// In the target's own file, those that import something else under its name.
    pub(super) rivals: Vec<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plainly {
    Yes,
    /// Something of that name comes from a module that may be the target's.
    Maybe,
    /// It is imported under another name.
    OnlyImport,
    No,
}

impl Target {
    /// Reads how a file can name the target from its imports and its place.
    pub(super) fn knows(&self, file: &File<'_>, own: bool, imports: &[Import]) -> Knows {
        let style = &file.language.pack().style;
        let mut modules: Vec<String> = Vec::new();
        if !own && style.separator == "::" {
            modules.push(stem(&self.file).to_owned());
        }
        modules.extend(self.namespace.clone().filter(|_| own));
        let elsewhere = file.outline.children(None).any(|(_, symbol)| {
            !symbol.declaration && symbol.scope.is_empty() && symbol.name.slice(file.text) == self.old
        });
        let named: Vec<&Import> = imports.iter().filter(|import| self.is_named(import, file)).collect();
        let certain: Vec<&Import> =
            named.iter().filter(|import| self.is_meant(import, file)).copied().collect();
        let near = folder(file.name) == folder(&self.file);
        let as_it_is = |import: &&Import| import.local.as_ref() == Some(&self.old);
        let plainly = match style.reach {
            _ if own => Plainly::Yes,
            _ if certain.iter().any(as_it_is) => Plainly::Yes,
            _ if !certain.is_empty() => Plainly::OnlyImport,
            _ if !named.is_empty() => Plainly::Maybe,
            _ if elsewhere => Plainly::No,
            Reach::Everywhere => Plainly::Yes,
            // A macro is known in the files after it without an import.
            _ if self.is_macro => {
                if self.unique {
                    Plainly::Yes
                } else {
                    Plainly::Maybe
                }
            }
            Reach::Folder if near => Plainly::Yes,
            _ => {
                let star = |import: &&Import| import.name.as_deref() == Some("*");
                let mut stars =
                    imports.iter().filter(star).map(|import| Module::read(&import.module, file.name));
                let found = stars.find_map(|module| {
                    if self.leads(&module, file) {
                        Some(Plainly::Yes)
                    } else {
                        module.is_above(&self.file, style.reach).then_some(Plainly::Maybe)
                    }
                });
                found.unwrap_or(Plainly::No)
            }
        };
        let others = named.iter().copied().filter(|import| own && !self.is_meant(import, file));
        let (rivals, foreign): (Vec<&Import>, Vec<&Import>) = others.partition(as_it_is);
        let spans = |imports: Vec<&Import>| imports.iter().map(|import| import.span).collect();
        let (rivals, foreign) = (spans(rivals), spans(foreign));
        let imported = if certain.is_empty() && !own { named } else { certain };
        Knows { plainly, modules, imported: spans(imported), foreign, rivals }
    }

    /// True if an import is of the old name, and not of a module that is called so.
    fn is_named(&self, import: &Import, file: &File<'_>) -> bool {
        let style = &file.language.pack().style;
        match import.name.as_deref() {
            Some(name) => name == self.old && !self.is_namesake(import, file, &[]),
            // A module that is imported whole is never what it defines, except where the names of
            // types are written with their packages.
            None if style.reach == Reach::Imported && style.separator == "." => false,
            None => import.local.as_deref() == Some(self.old.as_str()),
        }
    }

    /// True if what an import makes known, or what is taken from it by these names, is another
    /// module of the target's name, and nothing passes the target on there.
    pub(super) fn is_namesake(&self, import: &Import, file: &File<'_>, further: &[&str]) -> bool {
        let reach = file.language.pack().style.reach;
        let module = Module::bound(import, file.name, further);
        let is = |home: &String| module.is(home, file.name, reach);
        self.namesakes.iter().any(is) && !self.leads(&Module::read(&import.module, file.name), file)
    }

    /// True if an import of the old name is one of the target.
    fn is_meant(&self, import: &Import, file: &File<'_>) -> bool {
        let module = Module::read(&import.module, file.name);
        let reach = file.language.pack().style.reach;
        // Where the name is part of the module, the module is what stands before it, or a file
        // that is called as what it defines.
        let shorter = || Module::read(import.module.trim_end_matches(self.old.as_str()), file.name);
        let module = match import.name {
            None if !self.leads(&module, file) => shorter(),
            _ => module,
        };
        let near = || module.is_above(&self.file, reach) || module.is_called(&self.file);
        self.leads(&module, file) || (self.unique && near())
    }

    /// True if a module is the target's file, or one that passes it on.
    pub(super) fn leads(&self, module: &Module, file: &File<'_>) -> bool {
        let reach = file.language.pack().style.reach;
        self.is_module(module, file) || self.passing.iter().any(|home| module.is(home, file.name, reach))
    }

    /// True if a module is the target's file, under the name of that or of one that knows it.
    pub(super) fn is_module(&self, module: &Module, file: &File<'_>) -> bool {
        let reach = file.language.pack().style.reach;
        let mut doors = self.doors.iter();
        module.is(&self.file, file.name, reach)
            || doors.any(|door| module.is_in(&door.file, &door.name, file.name, reach))
    }

    /// True if a file imports the target under its name.
    pub(super) fn is_passed_by(&self, file: &File<'_>, stop: Stop<'_>) -> Result<bool, Unparsed> {
        let imports = file.language.imports(file.text, stop)?;
        let as_it_is = |import: &&Import| import.local.as_ref() == Some(&self.old);
        let mut named = imports.iter().filter(|import| self.is_named(import, file)).filter(as_it_is);
        Ok(named.any(|import| self.is_meant(import, file)))
    }

    /// True if a word names a module, which has a name of its own.
    pub(super) fn is_module_word(&self, file: &File<'_>, imports: &[Import], mention: &Mention) -> bool {
        let style = &file.language.pack().style;
        let of_import = |import: &Import| {
            import.span.holds(mention.span) && is_of_module(file.text, import.span, mention.span, style)
        };
        (mention.role == Role::Import && imports.iter().any(of_import))
            || (self.is_value && is_of_path(file.text, mention.span, style))
    }
}
