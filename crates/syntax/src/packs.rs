//! Every language, once: one entry here, one directory of queries, names and a sample in `packs/`.

use std::sync::Arc;

#[cfg(any(feature = "lang-c", feature = "lang-cpp"))]
use crate::c;
#[cfg(feature = "lang-data")]
use crate::data;
#[cfg(feature = "lang-python")]
use crate::python;
use crate::{Bodies, Docs, Front, Language, Pack, Queries, Reach, Style};

/// The queries in a pack's directory.
macro_rules! queries {
    ($directory:literal) => {
        Queries {
            symbols: include_str!(concat!("../packs/", $directory, "/symbols.scm")),
            references: include_str!(concat!("../packs/", $directory, "/references.scm")),
            imports: include_str!(concat!("../packs/", $directory, "/imports.scm")),
            locals: include_str!(concat!("../packs/", $directory, "/locals.scm")),
        }
    };
}

/// The style of most languages, with braces and `//` comments; each pack changes what differs.
const USUAL: Style = Style {
    separator: ".",
    bodies: Bodies::Braced,
    placeholder: "{ ... }",
    comment: "//",
    docs: Docs::CommentBefore,
    receivers: &["this"],
    overloads: false,
    reach: Reach::Imported,
    pragmas: &[],
    implicit_receiver: false,
    calls_apart: false,
    arrow: false,
    fixed: |_| false,
    members: "",
    valued_assignments: true,
    package: "",
    defining: &[],
    module: "",
    exports: "",
    public_named: false,
};

/// The style of JavaScript and the languages that are based on it.
#[cfg(any(feature = "lang-javascript", feature = "lang-typescript"))]
const SCRIPT: Style = Style {
    fixed: |name| matches!(name, "constructor" | "default" | "exports"),
    members: include_str!("../packs/javascript/members.txt"),
    ..USUAL
};

/// The answers for C and C++ that need no grammar.
#[cfg(any(feature = "lang-c", feature = "lang-cpp"))]
const C_FRONT: Front = Front {
    imports: Some(c::imports),
    calls: Some(c::calls),
    bases: Some(c::bases),
    params_match: Some(c::params_match),
    ..Front::NONE
};

/// A language of its own family, of which nothing else is known; each row says what differs.
const fn pack(id: &'static str, title: &'static str) -> Pack {
    Pack {
        id,
        title,
        family: id,
        extensions: &[],
        filenames: &[],
        interpreters: &[],
        style: USUAL,
        grammar: None,
        queries: Queries { symbols: "", references: "", imports: "", locals: "" },
        front: Front::NONE,
    }
}

/// Every language of this build.
static PACKS: &[Pack] = &[
    #[cfg(feature = "lang-python")]
    Pack {
        extensions: &["py", "pyi", "pyw"],
        filenames: &["SConstruct", "SConscript", "wscript"],
        interpreters: &["python", "python2", "python3", "pypy", "pypy3", "uv"],
        style: Style {
            bodies: Bodies::Indented,
            placeholder: "...",
            comment: "#",
            docs: Docs::FirstString,
            receivers: &["self", "cls"],
            pragmas: &["__future__"],
            fixed: |name| name.len() > 4 && name.starts_with("__") && name.ends_with("__"),
            members: include_str!("../packs/python/members.txt"),
            valued_assignments: false,
            exports: "__all__",
            ..USUAL
        },
        grammar: Some(|| tree_sitter_python::LANGUAGE.into()),
        queries: queries!("python"),
        front: Front {
            outline: Some(python::outline),
            undecodable: Some(python::undecodable),
            check: Some(|text| Ok(python::check(text))),
            mentions: Some(python::mentions),
            imports: Some(python::imports),
            import_statement: Some(python::import_statement),
            calls: Some(python::calls),
            bases: Some(python::bases),
            doc_text: Some(python::docstring),
            module_doc: Some(python::module_doc),
            strings: Some(python::strings),
            shadows: Some(python::shadows),
            ..Front::NONE
        },
        ..pack("python", "Python")
    },
    #[cfg(feature = "lang-c")]
    Pack {
        extensions: &["c", "h"],
        interpreters: &["tcc"],
        style: Style { separator: "::", receivers: &[], reach: Reach::Everywhere, arrow: true, ..USUAL },
        grammar: Some(|| tree_sitter_c::LANGUAGE.into()),
        queries: queries!("c"),
        front: Front {
            outline: Some(c::outline_c),
            check: Some(c::check_c),
            mentions: Some(c::mentions_c),
            ..C_FRONT
        },
        ..pack("c", "C")
    },
    #[cfg(feature = "lang-cpp")]
    Pack {
        family: "c",
        extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tcc", "cu", "cuh"],
        style: Style {
            separator: "::",
            overloads: true,
            reach: Reach::Everywhere,
            implicit_receiver: true,
            arrow: true,
            members: include_str!("../packs/cpp/members.txt"),
            ..USUAL
        },
        grammar: Some(|| tree_sitter_cpp::LANGUAGE.into()),
        queries: queries!("cpp"),
        front: Front {
            outline: Some(c::outline_cpp),
            check: Some(c::check_cpp),
            mentions: Some(c::mentions_cpp),
            ..C_FRONT
        },
        ..pack("cpp", "C++")
    },
    #[cfg(feature = "lang-rust")]
    Pack {
        extensions: &["rs"],
        interpreters: &["rust-script"],
        style: Style {
            separator: "::",
            receivers: &["self", "Self"],
            members: include_str!("../packs/rust/members.txt"),
            valued_assignments: false,
            defining: &["fn", "const", "type"],
            module: "mod",
            ..USUAL
        },
        grammar: Some(|| tree_sitter_rust::LANGUAGE.into()),
        queries: queries!("rust"),
        ..pack("rust", "Rust")
    },
    #[cfg(feature = "lang-typescript")]
    Pack {
        family: "javascript",
        extensions: &["ts", "mts", "cts"],
        interpreters: &["ts-node", "tsx", "deno"],
        style: Style { overloads: true, ..SCRIPT },
        grammar: Some(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
        queries: queries!("typescript"),
        ..pack("typescript", "TypeScript")
    },
    #[cfg(feature = "lang-typescript")]
    Pack {
        family: "javascript",
        extensions: &["tsx"],
        style: Style { overloads: true, ..SCRIPT },
        grammar: Some(|| tree_sitter_typescript::LANGUAGE_TSX.into()),
        // Elements are not in the plain grammar, so what is called by them is said apart.
        queries: Queries {
            references: concat!(
                include_str!("../packs/typescript/references.scm"),
                include_str!("../packs/tsx/references.scm")
            ),
            ..queries!("typescript")
        },
        ..pack("tsx", "TSX")
    },
    #[cfg(feature = "lang-javascript")]
    Pack {
        extensions: &["js", "jsx", "mjs", "cjs"],
        filenames: &["Jakefile"],
        interpreters: &["node", "nodejs", "bun"],
        style: SCRIPT,
        grammar: Some(|| tree_sitter_javascript::LANGUAGE.into()),
        queries: queries!("javascript"),
        ..pack("javascript", "JavaScript")
    },
    #[cfg(feature = "lang-go")]
    Pack {
        extensions: &["go"],
        style: Style {
            receivers: &[],
            reach: Reach::Folder,
            package: "package",
            members: include_str!("../packs/go/members.txt"),
            ..USUAL
        },
        grammar: Some(|| tree_sitter_go::LANGUAGE.into()),
        queries: queries!("go"),
        front: Front { import_statement: Some(go_import), ..Front::NONE },
        ..pack("go", "Go")
    },
    #[cfg(feature = "lang-java")]
    Pack {
        extensions: &["java"],
        style: Style {
            receivers: &["this", "super"],
            overloads: true,
            reach: Reach::Folder,
            implicit_receiver: true,
            calls_apart: true,
            package: "package",
            public_named: true,
            members: include_str!("../packs/java/members.txt"),
            ..USUAL
        },
        grammar: Some(|| tree_sitter_java::LANGUAGE.into()),
        queries: queries!("java"),
        ..pack("java", "Java")
    },
    #[cfg(feature = "lang-csharp")]
    Pack {
        extensions: &["cs", "csx"],
        interpreters: &["dotnet-script"],
        style: Style {
            receivers: &["this", "base"],
            overloads: true,
            reach: Reach::Everywhere,
            implicit_receiver: true,
            members: include_str!("../packs/csharp/members.txt"),
            ..USUAL
        },
        grammar: Some(|| tree_sitter_c_sharp::LANGUAGE.into()),
        queries: queries!("csharp"),
        ..pack("csharp", "C#")
    },
    #[cfg(feature = "lang-ruby")]
    Pack {
        extensions: &["rb", "rake", "gemspec", "ru"],
        filenames: &["Rakefile", "Gemfile", "Guardfile", "Vagrantfile", "Podfile", "Brewfile"],
        interpreters: &["ruby", "jruby"],
        style: Style {
            bodies: Bodies::Worded,
            placeholder: "...",
            comment: "#",
            receivers: &["self"],
            reach: Reach::Everywhere,
            implicit_receiver: true,
            calls_apart: true,
            fixed: |name| name == "initialize",
            members: include_str!("../packs/ruby/members.txt"),
            ..USUAL
        },
        grammar: Some(|| tree_sitter_ruby::LANGUAGE.into()),
        queries: queries!("ruby"),
        ..pack("ruby", "Ruby")
    },
    #[cfg(feature = "lang-bash")]
    Pack {
        extensions: &["sh", "bash", "zsh", "ksh", "bats"],
        filenames: &[".bashrc", ".bash_profile", ".profile", "PKGBUILD", "APKBUILD"],
        interpreters: &["sh", "bash", "dash", "zsh", "ksh"],
        style: Style { comment: "#", receivers: &[], reach: Reach::Everywhere, calls_apart: true, ..USUAL },
        grammar: Some(|| tree_sitter_bash::LANGUAGE.into()),
        queries: queries!("bash"),
        ..pack("bash", "Bash")
    },
    #[cfg(feature = "lang-data")]
    Pack {
        extensions: &["md", "markdown", "mdown", "mkd"],
        front: data::front::<data::markdown::Markdown>(),
        ..pack("markdown", "Markdown")
    },
    #[cfg(feature = "lang-data")]
    Pack { extensions: &["yaml", "yml"], front: data::front::<data::yaml::Yaml>(), ..pack("yaml", "YAML") },
    #[cfg(feature = "lang-data")]
    Pack {
        extensions: &["toml"],
        filenames: &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"],
        front: data::front::<data::toml::Toml>(),
        ..pack("toml", "TOML")
    },
    #[cfg(feature = "lang-data")]
    Pack {
        extensions: &["json", "jsonc", "json5", "geojson", "ipynb", "webmanifest"],
        filenames: &["Pipfile.lock", "composer.lock", "flake.lock"],
        front: data::front::<data::json::Json>(),
        ..pack("json", "JSON")
    },
];

/// A Go import as a statement of its own: in the source it may stand in a group.
#[cfg(feature = "lang-go")]
fn go_import(import: &crate::Import) -> Option<String> {
    let crate::Import { module, local, .. } = import;
    let last = module.rsplit('/').next().unwrap_or(module);
    match local {
        Some(local) if local != last => Some(format!("import {local} \"{module}\"")),
        _ => Some(format!("import \"{module}\"")),
    }
}

/// The languages of a process.
#[derive(Clone, Debug)]
pub struct Packs {
    languages: Arc<[Arc<Language>]>,
}

impl Packs {
    /// Every language this build has.
    pub fn all() -> Self {
        Self::new(PACKS)
    }

    /// These languages. Where two claim a file, the first has it.
    pub fn new(packs: impl IntoIterator<Item = &'static Pack>) -> Self {
        Self { languages: packs.into_iter().map(Language::new).collect() }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Language>> {
        self.languages.iter()
    }

    /// A language by its short name.
    pub fn named(&self, id: &str) -> Option<&Arc<Language>> {
        self.iter().find(|language| language.pack().id == id)
    }

    /// The language of a file by its name alone, without looking into it.
    pub fn by_name(&self, name: &str) -> Option<&Arc<Language>> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if let Some(known) = self.iter().find(|language| language.pack().filenames.contains(&name)) {
            return Some(known);
        }
        let extension = name.rsplit_once('.')?.1;
        // The one ending in which letter case tells two languages apart.
        let extension = if extension == "C" { "cpp".to_owned() } else { extension.to_ascii_lowercase() };
        self.iter().find(|language| language.pack().extensions.contains(&extension.as_str()))
    }

    /// The language of a file: by its name, by what its first lines say, and for `.h` by
    /// whether it is C++.
    pub fn of_file(&self, name: &str, text: &str) -> Option<&Arc<Language>> {
        match self.by_name(name) {
            Some(language) if language.pack().id == "c" && name.ends_with(".h") && looks_like_cpp(text) => {
                Some(self.named("cpp").unwrap_or(language))
            }
            Some(language) => Some(language),
            None => self.by_interpreter(text),
        }
    }

    fn by_interpreter(&self, text: &str) -> Option<&Arc<Language>> {
        let line = text.strip_prefix("#!")?.lines().next()?;
        let mut words = line.split_whitespace().flat_map(|word| word.rsplit('/').next());
        let first = words.next()?;
        // `env` may have options and assignments before the program.
        let program = match first {
            "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
            first => first,
        };
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.iter().find(|language| {
            language
                .pack()
                .interpreters
                .iter()
                .any(|known| known.trim_end_matches(|c: char| c.is_ascii_digit()) == program)
        })
    }
}

/// True if a header needs C++: a word at the start of a line that C does not have.
fn looks_like_cpp(text: &str) -> bool {
    /// A header that is C++ says so early; beyond this nothing new is to be expected.
    const LOOKED_AT: usize = 64 * 1024;
    const WORDS: [&str; 9] = [
        "class ",
        "namespace ",
        "template",
        "using ",
        "public:",
        "private:",
        "protected:",
        "constexpr ",
        "virtual ",
    ];
    /// Texts that are in no line of C code.
    const ANYWHERE: [&str; 6] = ["::", "enum class ", "= default;", "= delete;", " operator", "static_cast<"];
    let end = text.floor_char_boundary(LOOKED_AT.min(text.len()));
    let mut extern_c = false;
    text[..end].lines().map(str::trim_start).any(|line| {
        // What only C++ compilers see says nothing about the rest.
        extern_c |= line.starts_with("#if") && line.contains("__cplusplus");
        extern_c &= !line.starts_with("#endif");
        let code = !line.starts_with(['/', '*', '#']) && !line.contains('"');
        let code = code.then(|| line.split("//").next().unwrap_or(line));
        let anywhere = code.is_some_and(|code| ANYWHERE.iter().any(|word| code.contains(word)));
        !extern_c && (anywhere || WORDS.iter().any(|word| line.starts_with(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expect: Option<&str>) {
        assert_eq!(Packs::all().of_file(name, text).map(|language| language.pack().id), expect, "{name}");
    }

    #[test]
    #[cfg(all(feature = "lang-python", feature = "lang-cpp", feature = "lang-c", feature = "lang-bash"))]
    fn files_are_known_by_name_by_first_line_and_by_look() {
        check("a/b.py", "", Some("python"));
        check("B.PY", "", Some("python"));
        check("a.unknown", "", None);
        check("py", "", None);
        check("run", "#!/usr/bin/env -S python3.12 -u\n", Some("python"));
        check("run", "#! /bin/sh\n", Some("bash"));
        check("run", "#!/usr/bin/perl\n", None);
        check("a.h", "#ifdef __cplusplus\nextern \"C\" {\nclass X;\n#endif\nint f(void);\n", Some("c"));
        check("a.h", "#pragma once\nnamespace a {\n}\n", Some("cpp"));
        check("a.h", "std::string f(const std::string& s);\n", Some("cpp"));
        check("a.h", "/* a::b */\n// a::b\n#define X a::b\nint f(void); // a::b\n", Some("c"));
        check("a.C", "", Some("cpp"));
        check("run", "#!/usr/bin/env -S uv run --script\n", Some("python"));
        check(".bashrc", "", Some("bash"));
        check("deep/Cargo.lock", "", Some("toml"));
        check("x.JSON", "", Some("json"));
        check("README.md", "#!/bin/sh\n", Some("markdown"));
        for other in ["toml", "Makefile", "", "/", ".json.unknown", "notes.txt", "LICENSE"] {
            check(other, "x", None);
        }
    }

    #[test]
    fn every_query_compiles() {
        for language in Packs::all().iter() {
            language.compile().expect("compiles");
        }
    }

    #[test]
    fn no_two_packs_claim_the_same_file() {
        let packs = Packs::all();
        let mut claims: Vec<&str> =
            packs.iter().flat_map(|language| language.pack().extensions.iter().copied()).collect();
        let all = claims.len();
        claims.sort_unstable();
        claims.dedup();
        assert_eq!(claims.len(), all);
    }
}
