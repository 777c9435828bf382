//! The blacklist: names that stay closed whatever the allowlist says.
//!
//! A pattern without a slash protects that name at any depth, and everything below it; one
//! with a slash is read from the root. A name is closed in every spelling that some file system
//! takes for it: `fold.rs` knows them.

use std::{os::unix::ffi::OsStrExt, path::Path};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::fold::{fold, folded, short_names, trimmed};

/// Conversation history, configuration and credentials of the host: never readable.
pub const ALWAYS: &[&str] = &["history.toml", "*_history.toml", "config.toml", "credentials.toml"];
/// Secrets and Tectum's own state: never readable unless the configuration says otherwise.
pub const SECRETS: &[&str] = &[".env*", "*.pem", "*.key", ".tectum", ".tectum-*"];
/// Readable, never changed: version-control internals, and the file that holds our own rules.
pub const READ_ONLY: &[&str] = &[".git", "tectum.toml"];

/// One compiled list of protected names.
#[derive(Clone, Debug, Default)]
pub struct DenyList {
    names: Patterns,
    paths: Patterns,
    /// Short names (`GIT~1`) of what the others protect, asked only about names with a tilde.
    short: Patterns,
}

#[derive(Clone, Debug, Default)]
struct Patterns {
    set: GlobSet,
    sources: Vec<String>,
    edges: Edges,
}

/// The bytes with which a match can begin or end. Most names are told apart by them alone,
/// and a listing or a search asks about every name it meets.
#[derive(Clone, Debug)]
struct Edges {
    first: [bool; 256],
    last: [bool; 256],
}

impl DenyList {
    /// Compiles patterns; a bad one is returned with the reason.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let (mut names, mut paths, mut short) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let bare = pattern.strip_prefix("**/").unwrap_or(pattern).trim_end_matches('/');
            if bare.contains('/') {
                let rooted = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
                paths.push((pattern.to_owned(), rooted.to_owned()));
                // What protects a folder's content protects the folder from being renamed away.
                if let Some(folder) = rooted.strip_suffix("/**") {
                    paths.push((pattern.to_owned(), folder.to_owned()));
                } else {
                    paths.push((pattern.to_owned(), format!("{rooted}/**")));
                }
            } else {
                let shorts = short_names(&fold(bare));
                short.extend(shorts.into_iter().map(|name| (pattern.to_owned(), name)));
                names.push((pattern.to_owned(), bare.to_owned()));
            }
        }
        // A name holds no slash, so `*` may match anything there: plain comparisons then do
        // most of the work that a regular expression would do.
        Ok(Self {
            names: Patterns::compile(names, false)?,
            paths: Patterns::compile(paths, true)?,
            short: Patterns::compile(short, false)?,
        })
    }

    /// The pattern that protects `relative` (a path below a root), if one does.
    pub fn matches(&self, relative: &Path) -> Option<&str> {
        relative
            .components()
            .find_map(|part| self.matches_name(Path::new(part.as_os_str())))
            .or_else(|| self.matches_path(relative))
    }

    /// The same for the last name of a path whose folder was judged before.
    pub fn matches_entry(&self, folder: &Path, name: &std::ffi::OsStr) -> Option<&str> {
        self.matches_name(Path::new(name)).or_else(|| {
            if self.paths.sources.is_empty() { None } else { self.paths.find(&folder.join(name)) }
        })
    }

    fn matches_name(&self, name: &Path) -> Option<&str> {
        let short = || name.as_os_str().as_bytes().contains(&b'~').then(|| self.short.find(name)).flatten();
        self.names.find(name).or_else(short)
    }

    fn matches_path(&self, relative: &Path) -> Option<&str> {
        if self.paths.sources.is_empty() { None } else { self.paths.find(relative) }
    }
}

impl Patterns {
    fn compile(patterns: Vec<(String, String)>, literal_separator: bool) -> Result<Self, String> {
        let mut builder = GlobSetBuilder::new();
        let mut sources = Vec::new();
        let mut edges = Edges::default();
        for (source, glob) in patterns {
            let glob = GlobBuilder::new(&fold(&glob))
                .literal_separator(literal_separator)
                .backslash_escape(true)
                .build()
                .map_err(|e| format!("`{source}` is not a pattern: {}", e.kind()))?;
            edges.add(glob.glob());
            builder.add(glob);
            sources.push(source);
        }
        let set = builder.build().map_err(|e| e.to_string())?;
        Ok(Self { set, sources, edges })
    }

    fn find(&self, path: &Path) -> Option<&str> {
        if self.sources.is_empty() {
            return None;
        }
        let found = self.find_spelled(path);
        found.or_else(|| self.find_spelled(&trimmed(path)?))
    }

    fn find_spelled(&self, path: &Path) -> Option<&str> {
        let path = folded(path);
        if !self.edges.allow(path.as_os_str().as_bytes()) || !self.set.is_match(&path) {
            return None;
        }
        let first = self.set.matches(&path).into_iter().next()?;
        self.sources.get(first).map(String::as_str)
    }
}

impl Edges {
    /// Takes in a pattern: by its first byte if that is plain, else by its last, else by any.
    fn add(&mut self, glob: &str) {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        match (glob.as_bytes().first().filter(|b| plain(b)), glob.as_bytes().last().filter(|b| plain(b))) {
            (Some(first), _) => self.first[usize::from(*first)] = true,
            (None, Some(last)) => self.last[usize::from(*last)] = true,
            (None, None) => self.first = [true; 256],
        }
    }

    fn allow(&self, path: &[u8]) -> bool {
        match (path.first(), path.last()) {
            (Some(first), Some(last)) => self.first[usize::from(*first)] || self.last[usize::from(*last)],
            _ => false,
        }
    }
}

impl Default for Edges {
    fn default() -> Self {
        Self { first: [false; 256], last: [false; 256] }
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};

    use super::*;

    fn check(patterns: &[&str], path: &str, expect: Option<&str>) {
        let list = DenyList::new(patterns).expect("patterns compile");
        assert_eq!(list.matches(Path::new(path)), expect, "{patterns:?} on {path}");
    }

    #[test]
    fn names_hold_at_any_depth_and_below() {
        check(ALWAYS, "history.toml", Some("history.toml"));
        check(ALWAYS, "a/b/chat_history.toml", Some("*_history.toml"));
        check(ALWAYS, "myhistory.toml", None);
        check(SECRETS, "deep/.env.local", Some(".env*"));
        check(SECRETS, ".tectum/undo/1", Some(".tectum"));
        check(SECRETS, "keys/server.pem", Some("*.pem"));
        check(SECRETS, "environment.rs", None);
    }

    #[test]
    fn case_never_opens_a_protected_name() {
        check(SECRETS, ".ENV", Some(".env*"));
        check(ALWAYS, "Config.TOML", Some("config.toml"));
        check(SECRETS, "server.\u{212a}ey", Some("*.key"));
        check(ALWAYS, "hi\u{17f}tory.toml", Some("history.toml"));
        check(SECRETS, ".e\u{200c}nv", Some(".env*"));
        check(&["Ключи/**"], "КЛЮЧИ/a", Some("Ключи/**"));
        check(SECRETS, ".ënv", None);
        let odd = OsString::from_vec(b"\xff.PEM".to_vec());
        let list = DenyList::new(SECRETS).expect("patterns compile");
        assert_eq!(list.matches(Path::new(&odd)), Some("*.pem"), "a name that is no text");
        check(&["BUILD*"], "build.log", Some("BUILD*"));
    }

    #[test]
    fn paths_are_read_from_the_root() {
        check(&["secrets/**"], "secrets/a/b", Some("secrets/**"));
        check(&["secrets/**"], "secrets", Some("secrets/**"));
        check(&["secrets/**"], "x/secrets/a", None);
        check(&["**/credentials.*"], "x/credentials.json", Some("**/credentials.*"));
        check(&["a/b"], "a/b/c", Some("a/b"));
    }

    #[test]
    fn patterns_with_open_edges_match_as_well() {
        check(&["*secret*"], "my-secret-notes", Some("*secret*"));
        check(&["[ab]x"], "bx", Some("[ab]x"));
        check(&["{x,y}z"], "yz", Some("{x,y}z"));
        check(&["a{x,y}"], "ay", Some("a{x,y}"));
        check(&["?.bin"], "q.bin", Some("?.bin"));
        check(&["é*"], "École".to_lowercase().as_str(), Some("é*"));
    }

    #[test]
    fn braces_work_and_bad_patterns_are_named() {
        check(&["**/*.{pem,key}"], "a/b.KEY", Some("**/*.{pem,key}"));
        assert!(DenyList::new(["a["]).expect_err("refused").contains("`a[`"));
    }
}
