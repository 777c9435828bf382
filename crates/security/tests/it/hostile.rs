//! Generated hostile paths against a planted tree. Nothing outside is read, and nothing outside
//! is changed.

use std::{cell::RefCell, fs};

use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestRunner};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tectum_security::{Access, Allowlist};

use crate::scene::{CANARY, Scene, list, open, read, remove, rename, walk, write};

/// Paths in all: cases times paths of a case.
const CASES: u32 = 1_000;
const PATHS: usize = 50;

/// Names the tree knows, and what an attacker puts between them.
const PARTS: &[&str] = &[
    "..",
    "..",
    "..",
    ".",
    "",
    "a",
    "b",
    "deep",
    "file.txt",
    "inner",
    "inner-dir",
    "out",
    "out-dir",
    "out-dir",
    "absolute",
    "absolute-dir",
    "proc",
    "cwd",
    "fds",
    "loop",
    "ring",
    "dangling",
    "far",
    "pipe",
    "shared",
    "root",
    "root-evil",
    "outside",
    "sub",
    "etc",
    "passwd",
    "self",
    "fd",
    "3",
    "...",
    "..x",
    ".. ",
    "..;",
    "..\\",
    "\\..\\",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f",
    "..%c0%af",
    "%00",
    "\u{ff0e}\u{ff0e}",
    "\u{2025}",
    "\u{2024}\u{2024}",
    "\u{202e}..",
    "a\u{200f}",
    "..\u{200b}",
    "\u{feff}..",
    "~",
    "~root",
    "$HOME",
    "file.txt.",
    "file.txt ",
    "file.txt::$DATA",
    "C:",
    "nul",
    "*",
    "-rf",
    "\0",
    "..\0",
    "file.txt\0.md",
    "\n",
    "\u{1b}[2J",
    "\u{7f}",
];
const BETWEEN: &[&str] =
    &["/", "/", "/", "//", "/./", "\\", "\u{ff0f}", "\u{2215}", "\u{29f8}", "/../", "%2f"];

#[test]
fn heavy_no_generated_path_escapes() {
    let scene = Scene::new();
    plant(&scene);
    let before = scene.outside_now();
    let allowed = scene.allowlist();
    let tried = RefCell::new([0_usize; 2]);
    let mut runner =
        TestRunner::new(ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() });
    let paths = vec((hostile(&scene), 0..4_u8), PATHS);
    let outcome = runner.run(&paths, |paths| {
        // What an earlier case removed is planted again, so every case meets the whole tree.
        plant(&scene);
        for (path, attempt) in paths {
            let opened = check(&allowed, &path, attempt)?;
            tried.borrow_mut()[usize::from(opened)] += 1;
        }
        prop_assert_eq!(&scene.outside_now(), &before);
        Ok(())
    });
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
    let [refused, opened] = tried.into_inner();
    println!(
        "{} hostile paths: {opened} led somewhere inside, {refused} nowhere, 0 outside",
        refused + opened
    );
    assert!(refused + opened >= 50_000, "the promised number");
    assert!(opened > 500, "the generator also finds ways that exist, or it proves nothing");
}

/// Tries one path in every reading way and one changing way; true when it led somewhere.
fn check(allowed: &Allowlist, path: &str, attempt: u8) -> Result<bool, TestCaseError> {
    let mut given = Vec::new();
    given.extend(read(allowed, path));
    given.extend(list(allowed, path).map(|names| names.join("\n")));
    // A walk from the top shows the same each time, so most paths do without.
    if path.len().is_multiple_of(16)
        && let Ok(found) = walk(allowed, path)
    {
        given.extend(found.into_values().flatten());
    }
    let led = !given.is_empty();
    match attempt {
        0 => given.extend(write(allowed, path, "written").ok().flatten()),
        1 => drop(remove(allowed, path)),
        2 => drop(rename(allowed, "a/file.txt", path)),
        _ => drop(rename(allowed, path, "a/taken")),
    }
    for text in given {
        prop_assert!(!text.contains(CANARY), "{path:?} gave the canary");
        prop_assert!(!text.contains("root:x:0"), "{path:?} gave the password file");
    }
    Ok(led)
}

/// A tree with every kind of way out.
fn plant(scene: &Scene) {
    let root = &scene.root;
    for folder in ["a", "a/b", "a/b/deep"] {
        if !root.join(folder).is_dir() {
            let _ = fs::remove_file(root.join(folder));
            fs::create_dir(root.join(folder)).expect("made");
        }
        let file = root.join(folder).join("file.txt");
        if !file.is_file() {
            let _ = fs::remove_dir_all(&file);
            fs::write(&file, "inside").expect("made");
        }
    }
    let outside = scene.outside.to_str().expect("text");
    let links = [
        ("a/file.txt", "inner"),
        ("a/b", "inner-dir"),
        ("../outside/file.txt", "out"),
        ("../outside", "out-dir"),
        ("../../../outside", "a/b/out-dir"),
        ("../root/a", "far"),
        (&format!("{outside}/file.txt"), "absolute"),
        (outside, "absolute-dir"),
        ("/proc/self/root", "proc"),
        ("/proc/self/cwd", "cwd"),
        ("/dev/fd", "fds"),
        ("loop", "loop"),
        ("../ring", "a/ring"),
        ("a/ring", "ring"),
        ("../outside/new", "dangling"),
    ];
    for (to, at) in links {
        if !root.join(at).is_symlink() {
            let _ = fs::remove_dir_all(root.join(at));
            let _ = fs::remove_file(root.join(at));
            scene.link(to, at);
        }
    }
    if !root.join("pipe").exists() {
        let _ = mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0);
    }
    // A file outside with a second name inside may be read, since nobody can tell it from a
    // file inside; it holds no canary, and it must not be changed.
    let shared = scene.outside.join("shared");
    if !shared.exists() {
        fs::write(&shared, "shared").expect("made");
    }
    if !root.join("shared").exists() {
        fs::hard_link(&shared, root.join("shared")).expect("made");
    }
}

fn hostile(scene: &Scene) -> impl Strategy<Value = String> + use<> {
    let root = scene.root.to_str().expect("text").to_owned();
    let outside = scene.outside.to_str().expect("text").to_owned();
    let starts = vec![
        String::new(),
        String::new(),
        String::new(),
        "/".into(),
        "//".into(),
        "///".into(),
        format!("{root}/"),
        format!("{root}/"),
        format!("{root}-evil/"),
        format!("{root}/../root-evil/"),
        format!("{root}/.."),
        format!("{outside}/"),
        format!("/proc/self/root{outside}/"),
        format!("/proc/self/root{root}/"),
        "/proc/self/cwd/".into(),
        "/proc/thread-self/root/".into(),
        "/dev/fd/".into(),
        "/dev/stdin".into(),
        format!("proc{outside}/"),
        format!("file://{outside}/"),
        "\\\\server\\share\\".into(),
        "//server/share/".into(),
        "C:\\".into(),
        "c:/".into(),
        "\\\\?\\C:\\".into(),
        "~/".into(),
        format!("./{outside}/"),
        format!("..{outside}/"),
    ];
    let walk = (select(starts), vec((select(PARTS), select(BETWEEN)), 0..7)).prop_map(|(start, parts)| {
        parts.into_iter().fold(start, |path, (part, between)| path + part + between)
    });
    let trimmed = walk.clone().prop_map(|path| path.trim_end_matches('/').to_owned());
    let long = (select(PARTS), 1..3_000_usize).prop_map(|(part, times)| format!("{part}/").repeat(times));
    prop_oneof![20 => walk, 20 => trimmed, 1 => long, 4 => ".{0,40}"]
}

/// What the generator may take long to hit is also said outright.
#[test]
fn the_known_ways_out_are_closed() {
    let scene = Scene::new();
    plant(&scene);
    let before = scene.outside_now();
    let allowed = scene.allowlist();
    let (root, outside) = (scene.root.display(), scene.outside.display());
    let ways = [
        "../outside/file.txt".to_owned(),
        "a/../../outside/file.txt".into(),
        "inner-dir/../../outside/file.txt".into(),
        "inner-dir/../../../outside/file.txt".into(),
        "out".into(),
        "out-dir/file.txt".into(),
        "out-dir/new/file.txt".into(),
        "a/b/out-dir/sub/file.txt".into(),
        "absolute".into(),
        "absolute-dir/file.txt".into(),
        "far/file.txt".into(),
        "dangling".into(),
        "loop".into(),
        "ring/x".into(),
        format!("proc{outside}/file.txt"),
        "cwd/file.txt".into(),
        "fds/0".into(),
        format!("{root}-evil/file.txt"),
        format!("{root}/../root-evil/file.txt"),
        format!("{outside}/file.txt"),
        format!("/proc/self/root{outside}/file.txt"),
        "/etc/passwd".into(),
        String::new(),
        "a/file.txt\0".into(),
    ];
    for path in ways {
        for access in [Access::Read, Access::Write] {
            assert!(open(&allowed, &path, access).is_err(), "{path} {access:?}");
        }
        assert!(rename(&allowed, "a/file.txt", &(path.clone() + "/x")).is_err(), "{path}");
    }
    assert!(matches!(write(&allowed, "shared", "x"), Err(tectum_security::PathError::Denied(_))));
    assert_eq!(scene.outside_now(), before);
}
