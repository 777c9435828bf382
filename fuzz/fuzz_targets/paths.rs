//! Any text as a path: whatever it opens lies beneath the root and is not protected, and nothing
//! outside changes.
#![no_main]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use libfuzzer_sys::{Corpus, fuzz_target};
use tectum_security::{Access, Allowlist, Batch, Candidate, Change, Durability, RawPath};

const CANARY: &str = "canary-7e21d4";
const LIMIT: u64 = 1 << 16;

struct Scene {
    outside: PathBuf,
    allowlist: Allowlist,
    _folder: tempfile::TempDir,
}

static SCENE: LazyLock<Scene> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let top = folder.path().canonicalize().expect("its true name");
    let (root, outside) = (top.join("root"), top.join("outside"));
    fs::create_dir_all(root.join("a/b")).expect("made");
    fs::create_dir_all(&outside).expect("made");
    fs::write(root.join("a/file.txt"), "inside").expect("made");
    fs::write(root.join(".env"), CANARY).expect("made");
    fs::write(outside.join("file.txt"), CANARY).expect("made");
    for (to, at) in [("../outside", "out"), ("a/file.txt", "in"), ("/etc", "etc"), ("/proc/self", "proc")] {
        symlink(to, root.join(at)).expect("made");
    }
    let allowlist = Allowlist::builder().base(&root).build().expect("opens");
    Scene { outside, allowlist, _folder: folder }
});

fuzz_target!(|input: (bool, &str)| -> Corpus {
    let (writes, path) = input;
    let scene = &*SCENE;
    let access = if writes { Access::Write } else { Access::Read };
    let Ok(opened) = scene.allowlist.admit(&RawPath::new(path), access).and_then(Candidate::resolve) else {
        return Corpus::Keep;
    };
    if writes {
        if let Ok(batch) = Batch::open(&[&opened], LIMIT) {
            let _ = batch.commit(vec![Change::Write(b"written".to_vec())], Durability::Rename);
        }
    } else if let Ok(bytes) = opened.file().and_then(|file| file.bytes(LIMIT)) {
        assert!(!contains(&bytes, CANARY), "{path:?} gave the canary");
        assert!(!contains(&bytes, "root:x:0"), "{path:?} gave the password file");
    }
    let left = fs::read(scene.outside.join("file.txt")).expect("it is there");
    assert_eq!(left, CANARY.as_bytes(), "{path:?} changed a file outside");
    let names = |folder: &Path| fs::read_dir(folder).expect("it is there").count();
    assert_eq!(names(&scene.outside), 1, "{path:?} made a file outside");
    Corpus::Keep
});

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
