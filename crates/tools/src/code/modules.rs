//! The files that a module can be, as a file that imports it writes it. Knows paths, never a disk.

use tectum_syntax::{Import, Reach};

/// A module as written in one file.
#[derive(Debug)]
pub(super) struct Module {
    parts: Vec<String>,
    start: Start,
}

/// From where the parts of a module are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// From a folder that is not said: the end of a path decides.
    Anywhere,
    /// From the folder in which paths begin, since the importing file's own is known.
    Here,
    /// From the top of the importing crate: `crate`.
    Crate,
    /// From a module around the importing one: `self`, `super`.
    Around,
}

impl Module {
    /// Reads a module as `importer` writes it.
    pub(super) fn read(written: &str, importer: &str) -> Self {
        let written = written.trim_matches(['"', '\'', '`']);
        let mut parts: Vec<String> = folder(importer).split('/').map(str::to_owned).collect();
        parts.retain(|part| !part.is_empty());
        if written.starts_with("./") || written.starts_with("../") {
            for part in written.split('/') {
                match part {
                    "." | "" => {}
                    ".." => drop(parts.pop()),
                    part => parts.push(part.to_owned()),
                }
            }
            return Self { parts, start: Start::Here };
        }
        if let Some(rest) = written.strip_prefix('.') {
            // One dot is the folder itself, each further one a folder above it.
            let named = rest.trim_start_matches('.');
            for _ in 0..rest.len() - named.len() {
                parts.pop();
            }
            parts.extend(named.split(['.', '/']).filter(|part| !part.is_empty()).map(str::to_owned));
            return Self { parts, start: Start::Here };
        }
        let all: Vec<&str> = if written.contains('/') {
            written.split('/').collect()
        } else {
            written.split(['.', ':']).collect()
        };
        let start = match all.first() {
            Some(&"crate") => Start::Crate,
            Some(&("self" | "super")) => Start::Around,
            _ => Start::Anywhere,
        };
        let plain = |part: &&str| !matches!(*part, "" | "." | ".." | "~" | "@" | "crate" | "self" | "super");
        Self { parts: all.into_iter().filter(plain).map(str::to_owned).collect(), start }
    }

    /// The module an import gives a name to, and what is taken from it by further names.
    pub(super) fn bound(import: &Import, importer: &str, further: &[&str]) -> Self {
        let first = import.local.as_deref();
        let starts = import.module.split(['.', ':', '/']).next();
        // `import a.b` makes `a` known, and `a.b` by it.
        let whole = import.name.is_none() && starts == first && import.module.contains('.');
        let mut module = if whole {
            Self::read(starts.unwrap_or_default(), importer)
        } else {
            Self::read(&import.module, importer)
        };
        let name = import.name.iter().filter(|name| *name != "*").cloned();
        module.parts.extend(name);
        module.parts.extend(further.iter().map(|part| (*part).to_owned()));
        module
    }

    /// True if it can be this file, or where a folder is a module, the file's folder.
    pub(super) fn is(&self, file: &str, importer: &str, reach: Reach) -> bool {
        let (path, folder) = (path(file), folder_parts(file));
        let for_folder = stands_for_folder(plain_stem(file));
        if self.parts.is_empty() {
            return match self.start {
                Start::Crate => matches!(plain_stem(file), "lib" | "main"),
                Start::Around => self::path(importer).starts_with(if for_folder { &folder } else { &path }),
                Start::Here => for_folder && folder.is_empty(),
                Start::Anywhere => false,
            };
        }
        let by_folder = (for_folder || reach == Reach::Folder) && !folder.is_empty();
        self.names(&path) || (by_folder && self.names(&folder))
    }

    /// True if this file's path can be the module's name.
    pub(super) fn is_in(&self, file: &str, name: &str, importer: &str, reach: Reach) -> bool {
        let Some((last, before)) = self.parts.split_last() else { return false };
        let around = Self { parts: before.to_vec(), start: self.start };
        last == name && around.is(file, importer, reach)
    }

    /// True if it can be a package that the file is in, and so pass on what the file defines.
    pub(super) fn is_above(&self, file: &str, reach: Reach) -> bool {
        let mut above = path(file);
        // What is at the top of a project is reached by the project's name, which nothing tells.
        if above.len() < 2 && reach == Reach::Folder {
            return true;
        }
        while above.pop().is_some() && !above.is_empty() {
            if self.names(&above) {
                return true;
            }
        }
        self.parts.is_empty()
    }

    /// True if it is called as the file is, wherever either stands.
    pub(super) fn is_called(&self, file: &str) -> bool {
        self.parts.last().map(String::as_str) == path(file).last().copied()
    }

    fn names(&self, path: &[&str]) -> bool {
        let same = |part: &str, of_path: &str| {
            part == of_path || part.rsplit_once('.').is_some_and(|(stem, _)| stem == of_path)
        };
        let ends = self.parts.iter().rev().zip(path.iter().rev()).all(|(part, of_path)| same(part, of_path));
        match self.start {
            Start::Here => ends && self.parts.len() == path.len(),
            _ => ends && !self.parts.is_empty(),
        }
    }
}

/// The parts of a file's path without its ending.
fn path(file: &str) -> Vec<&str> {
    let whole = file.rsplit_once('.').map_or(file, |(path, _)| path);
    whole.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

fn folder_parts(file: &str) -> Vec<&str> {
    folder(file).split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

fn stands_for_folder(stem: &str) -> bool {
    matches!(stem, "__init__" | "index" | "mod" | "lib" | "main")
}

fn plain_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// The name of a file as a module.
pub(super) fn stem(path: &str) -> &str {
    let stem = plain_stem(path);
    // A file that stands for its folder has the folder's name.
    if stands_for_folder(stem) {
        return folder(path).rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(stem);
    }
    stem
}

/// True if a file holds tests, by its path.
pub(super) fn is_test(path: &str) -> bool {
    const FOLDERS: [&str; 6] = ["test", "tests", "__tests__", "spec", "testing", "testdata"];
    let stem = plain_stem(path);
    let marked =
        path.rsplit('/').next().is_some_and(|name| name.contains(".test.") || name.contains(".spec."));
    folder_parts(path).iter().any(|part| FOLDERS.contains(part))
        || marked
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
}

/// The folder of a file.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_leads_to_a_file_by_the_end_of_its_path() {
        for (module, importer, file, expect) in [
            ("utils", "main.py", "x/utils.py", true),
            ("x.utils", "main.py", "x/utils.py", true),
            ("project.x.utils", "main.py", "x/utils.py", true),
            ("y.utils", "main.py", "x/utils.py", false),
            (".", "x/main.py", "x/__init__.py", true),
            (".", "y/main.py", "x/__init__.py", false),
            (".utils", "x/main.py", "x/utils.py", true),
            (".utils", "y/main.py", "x/utils.py", false),
            ("..utils", "x/y/main.py", "x/utils.py", true),
            ("../x/utils.js", "src/y/a.js", "src/x/utils.js", true),
            ("./utils", "src/a.ts", "src/utils.ts", true),
            ("./utils", "other/a.ts", "src/utils.ts", false),
            ("./other", "src/a.ts", "src/utils.ts", false),
            ("./x", "src/a.ts", "src/x/index.ts", true),
            ("./index", "src/a.ts", "src/index.ts", true),
            (".", "src/a.ts", "src/index.ts", true),
            (".", "a.py", "__init__.py", true),
            ("main", "a.py", "main.py", true),
            ("other", "a.py", "main.py", false),
            ("@/x/utils", "src/a.ts", "src/x/utils.ts", true),
            ("crate::a::b", "src/lib.rs", "src/a/b.rs", true),
            ("crate", "src/a.rs", "src/lib.rs", true),
            ("crate", "src/a.rs", "src/b.rs", false),
            ("super", "src/a/b.rs", "src/a.rs", true),
            ("super", "src/a/b.rs", "src/c.rs", false),
            ("x", "main.py", "x/__init__.py", true),
            ("json", "main.py", "x/utils.py", false),
        ] {
            let module = Module::read(module, importer);
            assert_eq!(module.is(file, importer, Reach::Imported), expect, "{module:?} {file}");
        }
        let package = Module::read("host.org/app/pkg", "main.go");
        assert!(package.is("pkg/a.go", "main.go", Reach::Folder));
        assert!(!package.is("other/a.go", "main.go", Reach::Folder));
        assert!(!Module::read("fmt", "x/main.go").is("main.go", "x/main.go", Reach::Folder));
    }

    #[test]
    fn tests_are_known_by_their_paths() {
        for (path, expect) in [
            ("tests/a.py", true),
            ("src/test_a.py", true),
            ("a/b_test.go", true),
            ("a.spec.ts", true),
            ("src/test/java/a/B.java", true),
            ("ATest.java", true),
            ("src/contest.py", false),
            ("latest/a.py", false),
        ] {
            assert_eq!(is_test(path), expect, "{path}");
        }
    }

    #[test]
    fn a_package_is_above_its_files() {
        for (module, expect) in [("pkg", true), ("app.pkg", true), ("core", false), ("other", false)] {
            let module = Module::read(module, "main.py");
            assert_eq!(module.is_above("pkg/core.py", Reach::Imported), expect, "{module:?}");
        }
    }

    #[test]
    fn a_file_that_stands_for_its_folder_has_its_name() {
        for (path, expect) in
            [("a/b.py", "b"), ("a/b/__init__.py", "b"), ("src/lib.rs", "src"), ("x.test.ts", "x")]
        {
            assert_eq!(stem(path), expect);
        }
    }
}
