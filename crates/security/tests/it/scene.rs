//! A scratch folder with a root, and with things outside the root that must never be touched.

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    fs,
    hash::{Hash, Hasher},
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tectum_security::{
    Access, Allowlist, AllowlistBuilder, Batch, Change, Denied, Durability, Flow, PathError, RawPath,
    SafePath,
};

/// Stands in every file outside the root. No call may ever give it back.
pub(crate) const CANARY: &str = "canary-5b1f0c";
/// Tells a copy of this program that it is a child, and which root to work in.
pub(crate) const CHILD: &str = "TECTUM_TEST_CHILD";
/// What a child prints at its end.
pub(crate) const THROUGH: &str = "the child came through";
/// More than any file of these tests.
pub(crate) const LIMIT: u64 = 1 << 20;

pub(crate) struct Scene {
    scratch: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Scene {
    /// `root/` is empty; `outside/` and `root-evil/` hold canaries.
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let top = scratch.path().canonicalize().expect("its true name");
        let scene = Self { root: top.join("root"), outside: top.join("outside"), scratch };
        fs::create_dir(&scene.root).expect("made");
        for place in ["outside", "outside/sub", "outside/sub/deep", "outside/empty", "root-evil"] {
            fs::create_dir(top.join(place)).expect("made");
        }
        for file in
            ["outside/file.txt", "outside/sub/file.txt", "outside/sub/deep/file.txt", "root-evil/file.txt"]
        {
            fs::write(top.join(file), CANARY).expect("made");
        }
        scene
    }

    pub(crate) fn top(&self) -> &Path {
        self.scratch.path()
    }

    /// Makes a file below the root, with the folders it needs.
    pub(crate) fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("made");
        self
    }

    /// Makes a link below the root.
    pub(crate) fn link(&self, to: impl AsRef<Path>, at: &str) -> &Self {
        symlink(to, self.root.join(at)).expect("made");
        self
    }

    pub(crate) fn hard_link(&self, to: &str, at: &str) -> &Self {
        fs::hard_link(self.root.join(to), self.root.join(at)).expect("made");
        self
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn builder(&self) -> AllowlistBuilder {
        Allowlist::builder().base(&self.root)
    }

    pub(crate) fn allowlist(&self) -> Allowlist {
        self.builder().build().expect("a snapshot")
    }

    /// Everything outside the root: which file, whose, with what in it.
    pub(crate) fn outside_now(&self) -> BTreeMap<PathBuf, Fact> {
        let mut facts = BTreeMap::new();
        for place in [&self.outside, &self.root.with_file_name("root-evil")] {
            gather(place, &mut facts);
        }
        facts
    }

    /// Names in a folder below the root, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).expect("readable");
        let mut names: Vec<_> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
    modified: (i64, i64),
    content: u64,
}

fn gather(path: &Path, facts: &mut BTreeMap<PathBuf, Fact>) {
    let meta = fs::symlink_metadata(path).expect("still there");
    let mut hash = DefaultHasher::new();
    if meta.is_file() {
        fs::read(path).expect("readable").hash(&mut hash);
    }
    if meta.is_symlink() {
        fs::read_link(path).expect("readable").hash(&mut hash);
    }
    let fact = Fact {
        inode: meta.ino(),
        mode: meta.mode(),
        owner: (meta.uid(), meta.gid()),
        modified: (meta.mtime(), meta.mtime_nsec()),
        content: hash.finish(),
    };
    facts.insert(path.to_owned(), fact);
    if meta.is_dir() {
        for entry in fs::read_dir(path).expect("readable") {
            gather(&entry.expect("an entry").path(), facts);
        }
    }
}

/// All three layers.
pub(crate) fn open(list: &Allowlist, path: &str, access: Access) -> Result<SafePath, Denied> {
    list.admit(&RawPath::new(path), access)?.resolve()
}

pub(crate) fn read(list: &Allowlist, path: &str) -> Result<String, PathError> {
    let bytes = open(list, path, Access::Read)?.file()?.bytes(LIMIT)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes, and returns what stood there before.
pub(crate) fn write(list: &Allowlist, path: &str, content: &str) -> Result<Option<String>, PathError> {
    let place = open(list, path, Access::Write)?;
    let batch = Batch::open(&[&place], LIMIT)?;
    let before = batch.slots()[0].current().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    batch.commit(vec![Change::Write(content.into())], Durability::Rename)?;
    Ok(before)
}

pub(crate) fn remove(list: &Allowlist, path: &str) -> Result<(), PathError> {
    open(list, path, Access::Remove)?.remove(true, Durability::Rename).map(drop)
}

pub(crate) fn rename(list: &Allowlist, from: &str, to: &str) -> Result<(), PathError> {
    let from = open(list, from, Access::Remove)?;
    from.rename_to(&open(list, to, Access::Place)?, true, Durability::Rename).map(drop)
}

/// The names a listing shows.
pub(crate) fn list(list: &Allowlist, path: &str) -> Result<Vec<String>, PathError> {
    let listing = open(list, path, Access::Read)?.list(10_000)?;
    let mut names: Vec<_> = listing.entries.into_iter().map(|entry| entry.name).collect();
    names.sort();
    Ok(names)
}

/// Every file a walk shows, with what it gives to read.
pub(crate) fn walk(list: &Allowlist, path: &str) -> Result<BTreeMap<PathBuf, Option<String>>, PathError> {
    let found = std::sync::Mutex::new(BTreeMap::new());
    open(list, path, Access::Read)?.walk(2, (), |folder| {
        for entry in folder.entries.clone() {
            if entry.kind == tectum_security::Kind::Directory {
                folder.descend(&entry.name, ());
            }
            let content =
                folder.open(&entry.name).map(|(file, _)| std::io::read_to_string(file).unwrap_or_default());
            found.lock().expect("unbroken").insert(folder.path.join(&entry.name), content);
        }
        Flow::Continue
    })?;
    Ok(found.into_inner().expect("unbroken"))
}

/// The command line that runs one test of this program as a child.
pub(crate) fn child(test: &str, root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, root);
    command
}

/// The same behind a shell that does something first; `$0` is the root there.
pub(crate) fn child_behind(program: &[&str], first: &str, test: &str, root: &Path) -> Output {
    let child = child(test, root);
    let mut shell = Command::new(program[0]);
    shell.args(&program[1..]).args(["sh", "-c", &format!(r#"{first} && exec "$@""#)]).arg(root);
    shell.arg(child.get_program()).args(child.get_args()).env(CHILD, root).output().expect("starts")
}

/// What a child may reach; `None` in the test run itself, which has nothing to do there.
pub(crate) fn told() -> Option<Allowlist> {
    let root = std::env::var_os(CHILD)?;
    Some(Allowlist::builder().base(root).build().expect("a snapshot"))
}

/// A child says at its end that it came so far, since a test that does not run passes too.
pub(crate) fn came_through(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(THROUGH), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
