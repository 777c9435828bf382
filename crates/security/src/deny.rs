//! The blacklist: names that stay closed whatever the allowlist says. Which names are built in is
//! said in `built_in.rs`.
//!
//! A pattern without a slash protects that name at any depth, and everything below it; one
//! with a slash is read from the root. A name is closed in every spelling that some file system
//! takes for it: `fold.rs` knows them.

use std::{
    borrow::Cow,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use globset::{Glob, GlobBuilder, GlobSet};

use crate::fold::{fold, folded, short_names, trimmed};

/// Bytes of all patterns of a list. Nobody writes that many by hand, and far more still compile.
const MAX_PATTERNS: usize = 64 * 1024;

/// One compiled list of protected names.
#[derive(Clone, Debug, Default)]
pub struct DenyList {
    names: Patterns,
    paths: Patterns,
    pairs: Vec<Pair>,
    /// Short names (`GIT~1`) of what `names` protects. Only a name with a tilde can be one, so they are
    /// compiled for the first of those: they take more memory than all the rest.
    short: OnceLock<Result<Patterns, String>>,
}

#[derive(Clone, Debug, Default)]
struct Patterns {
    globs: Vec<Glob>,
    /// All of them as one, compiled for the first name whose edges they allow. Compiling takes a fifth
    /// of a start, and most names never come this far.
    set: OnceLock<Option<GlobSet>>,
    sources: Vec<String>,
    edges: Edges,
}

/// A pattern `**/folder/name` without wildcards: that name in a folder of that name, at any depth.
/// Compared by itself, it spares every other name the matching of whole paths.
#[derive(Clone, Debug)]
struct Pair {
    source: String,
    folder: String,
    name: String,
}

/// The two bytes with which a match can begin or end, hashed to one. Most names are told apart by
/// them alone, and a listing or a search asks about every name it meets.
#[derive(Clone, Debug)]
struct Edges {
    first: [bool; 256],
    last: [bool; 256],
}

impl DenyList {
    /// Compiles patterns; a bad one is returned with the reason.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        let mut pairs = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let bare = bare(pattern);
            if let Some(pair) = Pair::parse(pattern) {
                pairs.push(pair);
            } else if bare.contains('/') {
                let rooted = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
                paths.push((pattern.to_owned(), rooted.to_owned()));
                // What protects a folder's content protects the folder from being renamed away.
                if let Some(folder) = rooted.strip_suffix("/**") {
                    paths.push((pattern.to_owned(), folder.to_owned()));
                } else {
                    paths.push((pattern.to_owned(), format!("{rooted}/**")));
                }
            } else {
                names.push((pattern.to_owned(), bare.to_owned()));
            }
        }
        // A name holds no slash, so `*` may match anything there: plain comparisons then do
        // most of the work that a regular expression would do.
        Ok(Self {
            names: Patterns::compile(names, false)?,
            paths: Patterns::compile(paths, true)?,
            pairs,
            short: OnceLock::new(),
        })
    }

    /// The pattern that protects `relative` (a path below a root), if one does.
    pub fn matches(&self, relative: &Path) -> Option<&str> {
        let each = |path: &Path| -> Option<&str> { self.matches_name(path.parent(), path.file_name()?) };
        relative.ancestors().find_map(each).or_else(|| self.matches_path(relative))
    }

    /// The same for the last name of a path whose folder was judged before.
    pub fn matches_entry(&self, folder: &Path, name: &OsStr) -> Option<&str> {
        self.matches_name(Some(folder), name).or_else(|| {
            if self.paths.is_empty() { None } else { self.paths.find(&Spellings::of(&folder.join(name))) }
        })
    }

    /// True for a path that a pattern names in just this spelling: what opens a name opens no other one
    /// that some file system would take for it.
    pub(crate) fn names_exactly(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let named = self.names.find_folded(&folded(Path::new(name)));
        let named = named.or_else(|| self.paths.find_folded(&folded(path)));
        named.is_some() || self.pair(path.parent(), &Spellings::of(Path::new(name))).is_some()
    }

    fn matches_name(&self, folder: Option<&Path>, name: &OsStr) -> Option<&str> {
        if self.names.is_empty() && self.pairs.is_empty() {
            return None;
        }
        let spellings = Spellings::of(Path::new(name));
        let short = || name.as_bytes().contains(&b'~').then(|| self.short_name(&spellings)).flatten();
        let pair = || self.pair(folder, &spellings).map(|pair| pair.source.as_str());
        self.names.find(&spellings).or_else(short).or_else(pair)
    }

    fn short_name(&self, name: &Spellings<'_>) -> Option<&str> {
        let compiled = self.short.get_or_init(|| {
            let short = |source: &String| {
                short_names(&fold(bare(source)))
                    .into_iter()
                    .map(|name| (source.clone(), name))
                    .collect::<Vec<_>>()
            };
            Patterns::compile(self.names.sources.iter().flat_map(short).collect(), false)
        });
        match compiled {
            Ok(short) => short.find(name),
            // What cannot be asked protects everything.
            Err(_) => self.names.sources.first().map(String::as_str),
        }
    }

    fn pair(&self, folder: Option<&Path>, name: &Spellings<'_>) -> Option<&Pair> {
        let named = |pair: &&Pair| name.are(&pair.name);
        let below = |pair: &&Pair| {
            let folder = Path::new(folder?.file_name()?);
            Some(Spellings::of(folder).are(&pair.folder))
        };
        self.pairs.iter().filter(named).find(|pair| below(pair) == Some(true))
    }

    fn matches_path(&self, relative: &Path) -> Option<&str> {
        if self.paths.is_empty() { None } else { self.paths.find(&Spellings::of(relative)) }
    }
}

/// A pattern without what only says that it holds at any depth.
fn bare(pattern: &str) -> &str {
    pattern.strip_prefix("**/").unwrap_or(pattern).trim_end_matches('/')
}

/// A name or a path as file systems may read it, folded once for all that it is compared with.
struct Spellings<'n> {
    whole: Cow<'n, Path>,
    cut: Option<PathBuf>,
}

impl<'n> Spellings<'n> {
    fn of(name: &'n Path) -> Self {
        Self { whole: folded(name), cut: trimmed(name).map(|cut| folded(&cut).into_owned()) }
    }

    fn are(&self, plain: &str) -> bool {
        self.whole.as_os_str() == plain || self.cut.as_ref().is_some_and(|cut| cut.as_os_str() == plain)
    }
}

impl Pair {
    fn parse(pattern: &str) -> Option<Self> {
        let (folder, name) = pattern.strip_prefix("**/")?.split_once('/')?;
        let plain =
            |part: &str| !part.is_empty() && !part.contains(['/', '*', '?', '[', ']', '{', '}', '\\']);
        let is_pair = plain(folder) && plain(name);
        is_pair.then(|| Self { source: pattern.into(), folder: fold(folder), name: fold(name) })
    }
}

impl Patterns {
    fn compile(patterns: Vec<(String, String)>, literal_separator: bool) -> Result<Self, String> {
        let mut globs = Vec::new();
        let mut sources = Vec::new();
        let mut edges = Edges::default();
        if patterns.iter().map(|(_, glob)| glob.len()).sum::<usize>() > MAX_PATTERNS {
            return Err(format!(
                "the patterns have more than {MAX_PATTERNS} bytes together: shorten the list"
            ));
        }
        for (source, glob) in patterns {
            let glob = GlobBuilder::new(&fold(&glob))
                .literal_separator(literal_separator)
                .backslash_escape(true)
                .build()
                .map_err(|e| format!("`{source}` is not a pattern: {}", e.kind()))?;
            edges.add(glob.glob());
            globs.push(glob);
            sources.push(source);
        }
        Ok(Self { globs, set: OnceLock::new(), sources, edges })
    }

    fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    fn find(&self, spellings: &Spellings<'_>) -> Option<&str> {
        let found = self.find_folded(&spellings.whole);
        found.or_else(|| self.find_folded(spellings.cut.as_ref()?))
    }

    fn find_folded(&self, path: &Path) -> Option<&str> {
        if !self.edges.allow(path.as_os_str().as_bytes()) {
            return None;
        }
        let set = self.set.get_or_init(|| GlobSet::new(&self.globs).ok());
        let first = match set {
            Some(set) if !set.is_match(path) => return None,
            Some(set) => set.matches(path).into_iter().next()?,
            // What cannot be asked protects everything.
            None => 0,
        };
        self.sources.get(first).map(String::as_str)
    }
}

impl Edges {
    /// Takes in a pattern: by how it begins if that is plain, else by how it ends, else by anything.
    fn add(&mut self, glob: &str) {
        let plain = |byte: Option<&u8>| byte.is_none_or(|b| b.is_ascii_alphanumeric() || b"._-".contains(b));
        let bytes = glob.as_bytes();
        let (first, last) = (bytes.first(), bytes.last());
        let (edges, outer, inner) = if plain(first) {
            (&mut self.first, first, bytes.get(1))
        } else if plain(last) {
            (&mut self.last, last, bytes.len().checked_sub(2).and_then(|at| bytes.get(at)))
        } else {
            self.first = [true; 256];
            return;
        };
        if plain(inner) {
            edges[edge(outer, inner)] = true;
        } else {
            // A wildcard stands for any byte, and for none.
            (0..=u8::MAX).for_each(|any| edges[edge(outer, Some(&any))] = true);
            edges[edge(outer, None)] = true;
        }
    }

    fn allow(&self, path: &[u8]) -> bool {
        let before_last = path.len().checked_sub(2).and_then(|at| path.get(at));
        let (first, last) = (edge(path.first(), path.get(1)), edge(path.last(), before_last));
        !path.is_empty() && (self.first[first] || self.last[last])
    }
}

/// The hash of the outermost byte and the one beside it; a name of one byte has none there.
fn edge(outer: Option<&u8>, inner: Option<&u8>) -> usize {
    let [outer, inner] = [outer, inner].map(|byte| byte.copied().unwrap_or(0));
    usize::from(outer.wrapping_mul(31) ^ inner)
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
    use crate::built_in::{ALWAYS, OURS, SECRETS};

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
        check(OURS, ".tectum/undo/1", Some(".tectum"));
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
        check(&["**/.aws/credentials"], "x/.aws/Credentials", Some("**/.aws/credentials"));
        check(&["**/.aws/credentials"], ".AWS/credentials/deep", Some("**/.aws/credentials"));
        check(&["**/.aws/credentials"], "aws/credentials", None);
        check(&["**/a/*.b"], "x/a/c.b", Some("**/a/*.b"));
    }

    #[test]
    fn patterns_with_open_edges_match_as_well() {
        check(&["*secret*"], "my-secret-notes", Some("*secret*"));
        check(&["[ab]x"], "bx", Some("[ab]x"));
        check(&["{x,y}z"], "yz", Some("{x,y}z"));
        check(&["a{x,y}"], "ay", Some("a{x,y}"));
        check(&["?.bin"], "q.bin", Some("?.bin"));
        check(&["a*"], "a", Some("a*"));
        check(&["a"], "a", Some("a"));
        check(&["*b"], "b", Some("*b"));
        check(&["a?"], "ab", Some("a?"));
        check(&["é*"], "École".to_lowercase().as_str(), Some("é*"));
    }

    #[test]
    fn braces_work_and_bad_patterns_are_named() {
        check(&["**/*.{pem,key}"], "a/b.KEY", Some("**/*.{pem,key}"));
        assert!(DenyList::new(["a["]).expect_err("refused").contains("`a[`"));
    }
}
