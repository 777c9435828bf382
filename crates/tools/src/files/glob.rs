//! Globs as the file tools take them: `**` crosses folders, `*` does not.

use std::{ffi::OsStr, path::Path};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use tectum_core::Fault;

/// Several globs at once. One without a slash is about a name at any depth, one with a slash
/// about the path below the start of the search.
#[derive(Debug)]
pub(super) struct Globs {
    names: GlobSet,
    paths: GlobSet,
}

impl Globs {
    /// Compiles them; the first bad one is an error that says what is wrong with it.
    pub(super) fn compile<S: AsRef<str>>(patterns: &[S]) -> Result<Self, Fault> {
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let bare = pattern.trim_start_matches("./").trim_end_matches('/');
            let set = if bare.contains('/') { &mut paths } else { &mut names };
            let bare = bare.trim_start_matches('/');
            if bare.is_empty() {
                return Err(bad(pattern, "it is empty"));
            }
            let glob = GlobBuilder::new(bare).literal_separator(true).empty_alternates(true).build();
            set.add(glob.map_err(|error| bad(pattern, &error.kind().to_string()))?);
        }
        let build = |set: GlobSetBuilder| {
            set.build().map_err(|error| Fault::invalid(format!("the globs cannot be used together: {error}")))
        };
        Ok(Self { names: build(names)?, paths: build(paths)? })
    }

    /// True if one of them means this entry. `path` is below the start of the search.
    pub(super) fn mean(&self, path: &Path, name: &OsStr) -> bool {
        (!self.names.is_empty() && self.names.is_match(name))
            || (!self.paths.is_empty() && self.paths.is_match(path))
    }
}

fn bad(pattern: &str, why: &str) -> Fault {
    Fault::invalid(format!("'{pattern}' is not a glob: {why}"))
        .hint(r"`*` and `?` stay inside a name, `**` crosses folders, `{a,b}` and `[ab]` choose; a backslash escapes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expect: bool) {
        let globs = Globs::compile(&[pattern]).expect("compiles");
        let path = Path::new(path);
        assert_eq!(globs.mean(path, path.file_name().expect("a name")), expect, "{pattern} on {path:?}");
    }

    #[test]
    fn without_a_slash_it_is_about_the_name() {
        check("*.rs", "a/b/c.rs", true);
        check("c.rs", "a/b/c.rs", true);
        check("b", "a/b/c.rs", false);
        check("*.{rs,toml}", "x/Cargo.toml", true);
        check("a{,b}.c", "d/a.c", true);
    }

    #[test]
    fn with_a_slash_it_is_about_the_path() {
        check("a/*.rs", "a/c.rs", true);
        check("a/*.rs", "a/b/c.rs", false);
        check("**/*.rs", "c.rs", true);
        check("a/**/c.rs", "a/c.rs", true);
        check("./a/**", "a/b/c.rs", true);
        check("/c.rs", "c.rs", true);
        check("/c.rs", "a/c.rs", false);
    }

    #[test]
    fn a_bad_one_is_named() {
        for bad in ["a[", "{a", "", "/"] {
            let fault = Globs::compile(&[bad]).expect_err("refused");
            assert!(fault.message.starts_with(&format!("'{bad}' is not a glob")), "{}", fault.message);
        }
    }
}
