//! A crate as its modules: their files, the types they declare and the other modules they name. Tests,
//! and code for other systems, are left out. It only reads; the rules judge.

mod names;

use std::collections::HashMap;
use std::path::Path;

use syn::visit::Visit;
use syn::{Attribute, Item, Meta};

use self::names::{Mention, Names, Use, is_left_out};
use crate::checkout::{Package, Source};

/// One library or program: a root file and all files that its `mod` lines lead to.
pub struct CrateTree {
    modules: Vec<Module>,
}

struct Module {
    path: Vec<String>,
    file: String,
    /// The names that are declared here, except modules.
    items: Vec<String>,
    types: Vec<TypeName>,
    uses: Vec<Use>,
    /// Every other path that is used here, such as `rpc::read`.
    paths: Vec<Mention>,
}

/// A type, trait or alias, and the place of its declaration.
#[derive(Clone)]
pub struct TypeName {
    pub name: String,
    pub file: String,
    pub line: usize,
}

/// A dependency: one file names something that another declares.
pub struct ModuleNeed {
    pub from: String,
    pub line: usize,
    pub to: String,
    /// The top-level modules of both; `None` for the root file.
    pub modules: Option<(String, String)>,
}

impl CrateTree {
    /// The library and the program of a package, if they exist.
    pub fn of_package(package: &Package, sources: &[Source]) -> Vec<Self> {
        let folder = Path::new(&package.manifest).parent().unwrap_or(Path::new(""));
        let files: HashMap<&str, &str> =
            sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
        ["lib.rs", "main.rs"]
            .iter()
            .map(|root| folder.join("src").join(root).to_string_lossy().into_owned())
            .filter(|root| files.contains_key(root.as_str()))
            .map(|root| Self::read(&files, &root))
            .collect()
    }

    fn read(files: &HashMap<&str, &str>, root: &str) -> Self {
        let mut tree = Self { modules: Vec::new() };
        let folder = Path::new(root).parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        tree.file(files, Vec::new(), root, &folder);
        tree
    }

    fn file(&mut self, files: &HashMap<&str, &str>, path: Vec<String>, file: &str, children: &str) {
        // The compiler reports files that do not parse.
        let Some(parsed) = files.get(file).and_then(|text| syn::parse_file(text).ok()) else { return };
        self.module(files, path, file, children, &parsed.items);
    }

    fn module(
        &mut self,
        files: &HashMap<&str, &str>,
        path: Vec<String>,
        file: &str,
        children: &str,
        items: &[Item],
    ) {
        let mut names = Names::default();
        for item in items {
            names.visit_item(item);
        }
        let located = |(name, line)| TypeName { name, file: file.to_owned(), line };
        self.modules.push(Module {
            path: path.clone(),
            file: file.to_owned(),
            items: names.items,
            types: names.types.into_iter().map(located).collect(),
            uses: names.uses,
            paths: names.paths,
        });
        for item in items {
            let Item::Mod(module) = item else { continue };
            if is_left_out(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            let below = format!("{children}/{name}");
            match &module.content {
                Some((_, items)) => self.module(files, path, file, &below, items),
                None => {
                    let beside = written_path(&module.attrs).map(|written| {
                        Path::new(file).with_file_name(written).to_string_lossy().into_owned()
                    });
                    let places = [beside, Some(format!("{below}.rs")), Some(format!("{below}/mod.rs"))];
                    let found = places.into_iter().flatten().find(|place| files.contains_key(place.as_str()));
                    if let Some(found) = found {
                        self.file(files, path, &found, &below);
                    }
                }
            }
        }
    }

    pub fn types(&self) -> impl Iterator<Item = &TypeName> {
        self.modules.iter().flat_map(|module| &module.types)
    }

    /// The dependencies between files. Re-exporting a name of a module below (`pub use`) is not an
    /// edge: a user of that name depends on the file that declares it.
    pub fn needs(&self) -> Vec<ModuleNeed> {
        let mut edges = Vec::new();
        for (at, module) in self.modules.iter().enumerate() {
            let uses = module.uses.iter().filter(|used| !self.passes_on(at, used)).map(|used| &used.mention);
            for mention in uses.chain(&module.paths) {
                let Some(target) = self.declaring(at, &mention.segments, 0) else { continue };
                let target = &self.modules[target];
                if target.file == module.file {
                    continue;
                }
                let tops = module.path.first().zip(target.path.first());
                edges.push(ModuleNeed {
                    from: module.file.clone(),
                    line: mention.line,
                    to: target.file.clone(),
                    modules: tops.map(|(from, to)| (from.clone(), to.clone())),
                });
            }
        }
        edges
    }

    fn passes_on(&self, at: usize, used: &Use) -> bool {
        let below = |target: usize| self.modules[target].path.starts_with(&self.modules[at].path);
        used.public && self.declaring(at, &used.mention.segments, 0).is_some_and(below)
    }

    /// The module that declares the target of a path, seen from the module `at`. `None` for a module
    /// itself and for names of other crates.
    fn declaring(&self, at: usize, segments: &[String], depth: usize) -> Option<usize> {
        match self.resolve(at, segments, depth)? {
            Meaning::Module(_) => None,
            Meaning::Item(module) => Some(module),
        }
    }

    fn resolve(&self, at: usize, segments: &[String], depth: usize) -> Option<Meaning> {
        // Two modules that import each other with `*` would be an endless loop.
        if depth > 16 {
            return None;
        }
        let (first, mut rest) = segments.split_first()?;
        let mut here = match first.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => self.parent(at)?,
            _ => match self.lookup(at, first, depth)? {
                Meaning::Module(module) => module,
                Meaning::Item(module) => return Some(Meaning::Item(module)),
            },
        };
        while let Some((name, after)) = rest.split_first() {
            rest = after;
            if name == "super" {
                here = self.parent(here)?;
                continue;
            }
            match self.lookup(here, name, depth)? {
                Meaning::Module(module) => here = module,
                Meaning::Item(module) => return Some(Meaning::Item(module)),
            }
        }
        Some(Meaning::Module(here))
    }

    /// The meaning of a name inside a module.
    fn lookup(&self, at: usize, name: &str, depth: usize) -> Option<Meaning> {
        let module = &self.modules[at];
        if let Some(child) = self.child(at, name) {
            return Some(Meaning::Module(child));
        }
        if module.items.iter().any(|item| item == name) {
            return Some(Meaning::Item(at));
        }
        if let Some(used) = module.uses.iter().find(|used| !used.glob && used.name == name) {
            // `use name;` of another crate means itself.
            let itself = used.mention.segments.len() == 1 && used.mention.segments[0] == name;
            return if itself { None } else { self.resolve(at, &used.mention.segments, depth + 1) };
        }
        module.uses.iter().filter(|used| used.glob).find_map(|used| {
            let Meaning::Module(from) = self.resolve(at, &used.mention.segments, depth + 1)? else {
                return None;
            };
            self.lookup(from, name, depth + 1)
        })
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let (_, above) = self.modules[at].path.split_last()?;
        self.modules.iter().position(|module| module.path == above)
    }

    fn child(&self, at: usize, name: &str) -> Option<usize> {
        let path = &self.modules[at].path;
        self.modules.iter().position(|module| {
            module.path.len() == path.len() + 1
                && module.path.starts_with(path)
                && module.path[path.len()] == name
        })
    }
}

enum Meaning {
    Module(usize),
    /// An item that is declared in this module.
    Item(usize),
}

/// The file in `#[path = "…"]`.
fn written_path(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(written), .. }) => Some(written.value()),
            _ => None,
        },
        _ => None,
    })
}
