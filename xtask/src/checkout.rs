//! The facts about the checkout: where it is, its packages and its Rust files. It only reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The checkout as `cargo metadata` describes it.
pub struct Checkout {
    pub root: PathBuf,
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

/// One workspace member and its dependencies.
pub struct Package {
    pub name: String,
    /// The path relative to the root.
    pub manifest: String,
    pub dependencies: Vec<Dependency>,
}

pub struct Dependency {
    /// The package's real name, even if the manifest renames it.
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Normal,
    Dev,
    Build,
}

/// One Rust file, its path relative to the root and written with `/`.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Checkout {
    pub fn read() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .output()
            .context("`cargo metadata` could not be started")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        Self::parse(&metadata).context("`cargo metadata` has a form this program does not know")
    }

    fn parse(metadata: &Value) -> Option<Self> {
        let root = PathBuf::from(metadata["workspace_root"].as_str()?);
        let target = PathBuf::from(metadata["target_directory"].as_str()?);
        let packages = metadata["packages"].as_array()?.iter();
        let packages = packages.map(|package| Package::parse(package, &root)).collect::<Option<_>>()?;
        Some(Self { root, target, packages })
    }

    /// Every Rust file of our code, in path order.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        self.walk(&self.root, &mut sources)?;
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(sources)
    }

    fn walk(&self, directory: &Path, sources: &mut Vec<Source>) -> Result<()> {
        let unreadable = || format!("{} could not be read", directory.display());
        for entry in std::fs::read_dir(directory).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && !self.is_foreign(&path) {
                self.walk(&path, sources)?;
            }
            if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("{} could not be read", path.display()))?;
                sources.push(Source { path: relative(&path, &self.root), text });
            }
        }
        Ok(())
    }

    /// True if it is build output, hidden or a fixture. A fixture is data that a tool reads; it may be
    /// Rust, and unfinished on purpose.
    fn is_foreign(&self, directory: &Path) -> bool {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        directory == self.target
            || name.starts_with('.')
            || ["fixtures", "node_modules"].contains(&&*name)
            || directory.join("CACHEDIR.TAG").exists()
    }
}

impl Package {
    fn parse(package: &Value, root: &Path) -> Option<Self> {
        Some(Self {
            name: package["name"].as_str()?.to_owned(),
            manifest: relative(Path::new(package["manifest_path"].as_str()?), root),
            dependencies: package["dependencies"]
                .as_array()?
                .iter()
                .map(Dependency::parse)
                .collect::<Option<_>>()?,
        })
    }
}

impl Dependency {
    fn parse(dependency: &Value) -> Option<Self> {
        let kind = match &dependency["kind"] {
            Value::Null => Kind::Normal,
            Value::String(kind) if kind == "dev" => Kind::Dev,
            Value::String(kind) if kind == "build" => Kind::Build,
            _ => return None,
        };
        Some(Self { name: dependency["name"].as_str()?.to_owned(), kind })
    }
}

fn relative(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
