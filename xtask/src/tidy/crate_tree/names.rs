//! The names in one module, taken from its syntax: declarations, imports and mentions.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Macro, Meta, UseTree, Visibility};

/// One leaf of a `use` line: the path it imports and the name it gets.
pub(super) struct Use {
    pub(super) mention: Mention,
    pub(super) name: String,
    pub(super) glob: bool,
    pub(super) public: bool,
}

#[derive(Clone)]
pub(super) struct Mention {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

const LEFT_OUT: [&str; 2] = ["test", "not (target_os = \"linux\")"];

#[derive(Default)]
pub(super) struct Names {
    pub(super) items: Vec<String>,
    pub(super) types: Vec<(String, usize)>,
    pub(super) uses: Vec<Use>,
    pub(super) paths: Vec<Mention>,
}

impl Names {
    fn type_name(&mut self, name: &Ident) {
        self.types.push((name.to_string(), name.span().start().line));
    }

    fn import(&mut self, tree: &UseTree, before: &[String], public: bool) {
        let below = |name: &Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let line = tree.span().start().line;
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &below(&path.ident), public),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.import(item, before, public)),
            UseTree::Glob(_) => {
                let mention = Mention { segments: before.to_vec(), line };
                self.uses.push(Use { mention, name: String::new(), glob: true, public });
            }
            UseTree::Name(leaf) if leaf.ident == "self" => self.leaf(before.to_vec(), None, line, public),
            UseTree::Name(leaf) => self.leaf(below(&leaf.ident), None, line, public),
            UseTree::Rename(leaf) if leaf.ident == "self" => {
                self.leaf(before.to_vec(), Some(&leaf.rename), line, public);
            }
            UseTree::Rename(leaf) => self.leaf(below(&leaf.ident), Some(&leaf.rename), line, public),
        }
    }

    fn leaf(&mut self, segments: Vec<String>, rename: Option<&Ident>, line: usize, public: bool) {
        let name = rename.map(Ident::to_string).or_else(|| segments.last().cloned()).unwrap_or_default();
        self.uses.push(Use { mention: Mention { segments, line }, name, glob: false, public });
    }

    /// The paths in the arguments of a macro, which have no syntax tree before expansion.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.mention(std::mem::take(&mut path), line);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    self.mention(std::mem::take(&mut path), line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.mention(path, line);
    }

    fn mention(&mut self, segments: Vec<String>, line: usize) {
        if segments.len() > 1 {
            self.paths.push(Mention { segments, line });
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name): (&[Attribute], Option<&Ident>) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            // Modules are read separately.
            Item::Mod(_) => return,
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Use(item) => (&item.attrs, None),
            _ => (&[], None),
        };
        if is_left_out(attributes) {
            return;
        }
        if let Some(name) = name {
            self.items.push(name.to_string());
            if matches!(
                item,
                Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) | Item::Union(_)
            ) {
                self.type_name(name);
            }
        }
        match item {
            Item::Use(item) => self.import(&item.tree, &[], is_public(&item.vis)),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.mention(segments, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    // `pub(in crate::a)` and attributes name modules without depending on them.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// True if it is a test, or code only for systems other than Linux.
pub(super) fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && LEFT_OUT.contains(&list.tokens.to_string().as_str()),
        Meta::Path(path) => path.is_ident("test"),
        Meta::NameValue(_) => false,
    })
}

fn is_public(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}
