//! The sources that are outlined and searched: copies of real projects, made once and then not
//! changed. It does not know its readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tectum_syntax::{Language, Packs};

/// The version of the trees; a change makes older ones be created again.
const EDITION: &str = "1";
/// Projects in C and C++, with the versions that were measured.
const NATIVE: [(&str, &str); 2] = [("numpy", "2.4.6"), ("grpcio", "1.85.1")];
/// Extensions of C++ sources; headers are among them.
const CPP: [&str; 6] = ["cc", "cpp", "cxx", "hh", "hpp", "h"];
/// Directories that do not belong to the standard library itself.
const FOREIGN: [&str; 2] = ["site-packages", "__pycache__"];

/// The places of the trees.
pub(crate) struct Corpora {
    root: PathBuf,
}

/// Sources of one language, read into memory.
pub(crate) struct Corpus {
    pub(crate) files: Vec<SourceFile>,
    /// The bytes of all texts together.
    pub(crate) bytes: usize,
}

/// One source file.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) language: std::sync::Arc<Language>,
}

/// The language of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tongue {
    Python,
    C,
    Cpp,
}

impl Tongue {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["py"],
            Self::C => &["c"],
            Self::Cpp => &CPP,
        }
    }
}

impl Corpora {
    /// Creates the trees unless they exist.
    pub(crate) fn prepare(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("could not make `{}`", root.display()))?;
        let corpora = Self { root: root.canonicalize()? };
        let stamp = corpora.root.join("trees.edition");
        if fs::read_to_string(&stamp).is_ok_and(|edition| edition == EDITION) {
            return Ok(corpora);
        }
        eprintln!("  making the trees of sources, once");
        for tree in [corpora.python(), corpora.native()] {
            if tree.exists() {
                fs::remove_dir_all(&tree)?;
            }
            // Ignore rules above a repository do not apply in it.
            fs::create_dir_all(tree.join(".git"))?;
            fs::write(tree.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        }
        copy(&standard_library()?, &corpora.python(), Tongue::Python.endings())?;
        for (name, version) in NATIVE {
            let sources = source_distribution(&corpora.root, name, version)?;
            let endings = [Tongue::C.endings(), Tongue::Cpp.endings()].concat();
            copy(&sources, &corpora.native().join(name), &endings)?;
        }
        fs::write(stamp, EDITION)?;
        Ok(corpora)
    }

    /// Python's standard library with its tests.
    pub(crate) fn python(&self) -> PathBuf {
        self.root.join("trees/python")
    }

    /// The C and C++ sources of two projects.
    pub(crate) fn native(&self) -> PathBuf {
        self.root.join("trees/native")
    }

    /// The path of a file of notes beside the trees.
    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// All sources of a language, in the order of their paths. Files that are not UTF-8 are left out.
    pub(crate) fn read(&self, tongue: Tongue) -> Result<Corpus> {
        let root = if tongue == Tongue::Python { self.python() } else { self.native() };
        let packs = Packs::all();
        let mut files = Vec::new();
        for path in below(&root, tongue.endings())? {
            let Ok(text) = String::from_utf8(fs::read(&path)?) else { continue };
            let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
            let name = path.to_string_lossy().into_owned();
            let language = match tongue {
                // The peers take every header for C++.
                Tongue::Cpp => packs.named("cpp"),
                _ => packs.of_file(&name, &text),
            };
            let language = language.with_context(|| format!("no language for {name}"))?.clone();
            files.push(SourceFile { path, text, language });
        }
        ensure!(!files.is_empty(), "no sources below `{}`", root.display());
        let bytes = files.iter().map(|file| file.text.len()).sum();
        Ok(Corpus { files, bytes })
    }
}

impl Corpus {
    pub(crate) fn megabytes(&self) -> f64 {
        self.bytes as f64 / 1e6
    }

    /// Writes the paths, one a line, for programs that take a list.
    pub(crate) fn list(&self, at: &Path) -> Result<()> {
        let lines: String = self.files.iter().map(|file| format!("{}\n", file.path.display())).collect();
        Ok(fs::write(at, lines)?)
    }
}

/// Downloads the source distribution of a project from the Python index and unpacks it below `root`, once.
pub(crate) fn source_distribution(root: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let place = root.join(name);
    if place.is_dir() {
        return Ok(place);
    }
    let wanted = format!("{name}=={version}");
    let mut pip = Command::new("python3");
    // Only the project itself as source: what pip needs to inspect it may be prebuilt.
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest"]);
    run(pip.arg(root).arg(wanted))?;
    let archive = root.join(format!("{name}-{version}.tar.gz"));
    fs::create_dir_all(&place)?;
    run(Command::new("tar").args(["xz", "--strip-components=1", "-f"]).arg(archive).arg("-C").arg(&place))?;
    Ok(place)
}

fn standard_library() -> Result<PathBuf> {
    let ask = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let answer =
        Command::new("python3").args(["-c", ask]).output().context("python3 could not be started")?;
    ensure!(answer.status.success(), "python3 does not know its library");
    Ok(String::from_utf8(answer.stdout)?.trim().into())
}

fn run(command: &mut Command) -> Result<()> {
    eprintln!("fetching: {command:?}");
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}

/// Copies the sources with these extensions, keeping their relative paths.
fn copy(from: &Path, to: &Path, endings: &[&str]) -> Result<()> {
    for path in below(from, endings)? {
        let target = to.join(path.strip_prefix(from)?);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(&path, &target).with_context(|| format!("could not copy `{}`", path.display()))?;
    }
    Ok(())
}

/// Every file with one of these extensions, sorted. Links are not followed.
fn below(root: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        let list = fs::read_dir(&directory).with_context(|| format!("no `{}`", directory.display()))?;
        for entry in list {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && !FOREIGN.iter().any(|foreign| entry.file_name() == *foreign) {
                waiting.push(path);
            } else if kind.is_file()
                && path.extension().and_then(|ending| ending.to_str()).is_some_and(|e| endings.contains(&e))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_with_the_endings_are_found_in_order() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let found = below(&here, &["rs"]).expect("this crate has sources");
        assert!(found.is_sorted() && found.contains(&here.join("main.rs")), "{found:?}");
        assert!(below(&here, &["zig"]).expect("readable").is_empty());
    }
}
