//! Wide, deep and odd trees: bounded handles, no lost entries, no lost threads.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use tectum_security::{Access, Durability, Flow, PathError};

use crate::scene::{
    CHILD, Scene, THROUGH, came_through, child_behind, list, open, read, remove, rename, told, walk, write,
};

/// More folders in one than the child may have files open.
const WIDE: usize = 1_500;

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[test]
fn heavy_wide_trees_are_walked_moved_and_removed_with_few_handles() {
    let scene = Scene::new();
    for n in 0..WIDE {
        scene.file(&format!("wide/{n}/file"), "text");
    }
    scene.file("wide/7/.env", "secret").hard_link("wide/7/.env", "alias");
    scene.file("one", "text").hard_link("one", "two");
    came_through(&child_behind(&["env"], "ulimit -n 64", "trees::child_goes_through", &scene.root));
    assert_eq!(scene.names("."), ["alias", "one", "two"]);
}

#[test]
fn child_goes_through() {
    let Some(allowed) = told() else { return };
    let before = handles();
    let seen = AtomicUsize::new(0);
    let report = open(&allowed, ".", Access::Read).expect("opens").walk(4, (), |folder| {
        seen.fetch_add(1, Ordering::Relaxed);
        for entry in folder.entries.clone() {
            if entry.kind == tectum_security::Kind::Directory {
                folder.descend(&entry.name, ());
            }
        }
        Flow::Continue
    });
    let report = report.expect("walks");
    assert_eq!((report.unreadable, report.denied), (0, 1));
    assert_eq!(seen.into_inner(), WIDE + 2);
    assert!(
        matches!(read(&allowed, "alias"), Err(PathError::Denied(_))),
        "the look for other names is complete"
    );
    assert_eq!(read(&allowed, "two").expect("read"), "text");
    assert!(matches!(rename(&allowed, "wide", "moved"), Err(PathError::Denied(_))));
    assert!(matches!(remove(&allowed, "wide"), Err(PathError::Denied(_))));
    assert_eq!(list(&allowed, "wide").expect("lists").len(), WIDE, "nothing went before the refusal");
    let root = std::env::var(CHILD).expect("told");
    std::fs::remove_file(std::path::Path::new(&root).join("wide/7/.env")).expect("removed");
    rename(&allowed, "wide", "moved").expect("moves");
    remove(&allowed, "moved").expect("removes");
    assert!(handles() <= before, "no handle is left behind");
    println!("{THROUGH}");
}

/// A chain of folders deeper than any path can say.
fn deep(scene: &Scene, at: &str, levels: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = scene.root.join(at);
    std::fs::create_dir_all(&top).expect("made");
    let mut here = rustix::fs::open(&top, flags, Mode::empty()).expect("opens");
    for _ in 0..levels {
        mkdirat(&here, "d", Mode::from_raw_mode(0o755)).expect("made");
        mkdirat(&here, "e", Mode::from_raw_mode(0o755)).expect("made");
        here = openat(&here, "d", flags, Mode::empty()).expect("opens");
    }
}

#[test]
fn heavy_deep_trees_end_in_an_answer() {
    let scene = Scene::new();
    deep(&scene, "deep", 1_000);
    deep(&scene, "shallow", 200);
    let allowed = scene.allowlist();
    let before = handles();
    let report = open(&allowed, "deep", Access::Read).expect("opens").walk(2, (), |folder| {
        for entry in folder.entries.clone() {
            folder.descend(&entry.name, ());
        }
        Flow::Continue
    });
    let report = report.expect("walks");
    let levels = |path: &std::path::Path| path.components().count();
    assert_eq!((report.unreadable, report.too_deep), (2, 2), "what was not looked at is said");
    let first = report.too_deep_at.expect("a place");
    assert!(levels(&first) == tectum_security::MAX_DEPTH + 1 && first.ends_with("d/d"), "{first:?}");
    assert!(matches!(remove(&allowed, "deep"), Err(PathError::Io { .. })));
    assert!(matches!(rename(&allowed, "deep", "shallow/d/x"), Err(PathError::Io { .. })));
    remove(&allowed, "shallow").expect("removes");
    let long = "n/".repeat(1_500) + "file";
    assert!(write(&allowed, &long, "x").is_err());
    assert!(!scene.root.join("n").exists(), "no half of a long way is left");
    write(&allowed, &("n/".repeat(200) + "file"), "x").expect("writes");
    assert!(handles() <= before + 5, "no handle is left behind");
    // The scratch folder is removed by a function that keeps every level open.
    clear(&scene.root.join("deep"), 1_000);
}

fn clear(top: &std::path::Path, levels: usize) {
    let halves = top.with_file_name("half");
    for _ in 0..levels / 100 {
        let cut: PathBuf = top.join("d/".repeat(100));
        if std::fs::rename(cut, &halves).is_err() {
            break;
        }
        std::fs::remove_dir_all(top).expect("removed");
        std::fs::rename(&halves, top).expect("renamed");
    }
}

#[test]
fn names_that_are_no_text_are_walked_and_kept_apart() {
    let scene = Scene::new();
    let odd = OsStr::from_bytes(b"odd-\xff.txt");
    std::fs::write(scene.root.join(odd), "text").expect("made");
    std::fs::write(scene.root.join(OsStr::from_bytes(b"\xfe.pem")), "secret").expect("made");
    scene.link(odd, "way");
    let allowed = scene.allowlist();
    let found = walk(&allowed, ".").expect("walks");
    assert_eq!(found.get(std::path::Path::new(odd)), Some(&Some("text".to_owned())));
    assert_eq!(found.len(), 2, "the protected one is hidden: {found:?}");
    assert_eq!(read(&allowed, "way").expect("read"), "text");
    write(&allowed, "way", "new").expect("written through");
    assert_eq!(std::fs::read_to_string(scene.root.join(odd)).expect("read"), "new");
}

#[test]
fn a_visitor_that_panics_ends_the_walk() {
    let scene = Scene::new();
    for n in 0..50 {
        scene.file(&format!("{n}/file"), "text");
    }
    let path = open(&scene.allowlist(), ".", Access::Read).expect("opens");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let walked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            path.walk(4, (), |folder| {
                for entry in folder.entries.clone() {
                    folder.descend(&entry.name, ());
                }
                assert!(folder.path != "7", "on purpose");
                Flow::Continue
            })
        }));
        tell.send(walked.is_err())
    });
    let panicked = told.recv_timeout(std::time::Duration::from_secs(10)).expect("the walk ends");
    assert!(panicked);
}

#[test]
fn a_visitor_cannot_leave_its_folder() {
    let scene = Scene::new();
    scene.file("inner/file", "text").file("upper", "text").link(&scene.outside, "inner/out");
    let visited = AtomicUsize::new(0);
    let walked = open(&scene.allowlist(), "inner", Access::Read).expect("opens").walk(1, (), |folder| {
        visited.fetch_add(1, Ordering::Relaxed);
        for name in ["../upper", "..", ".", "out/file.txt", "/etc/passwd", "file/", "out", ""] {
            assert!(folder.open(OsStr::new(name)).is_none(), "{name}");
            folder.descend(OsStr::new(name), ());
        }
        assert!(folder.open_below("../upper".as_ref()).is_none());
        assert!(folder.open_below("out/file.txt".as_ref()).is_none());
        assert!(folder.open(OsStr::new("file")).is_some());
        Flow::Continue
    });
    assert_eq!(walked.expect("walks").unreadable, 1, "the link is no folder");
    assert_eq!(visited.into_inner(), 1);
}

#[test]
fn removing_takes_links_away_and_leaves_what_they_point_to() {
    let scene = Scene::new();
    scene.file("folder/file", "text").link(&scene.outside, "folder/out").link("../../outside", "folder/up");
    let before = scene.outside_now();
    let allowed = scene.allowlist();
    let kept = open(&allowed, "folder", Access::Remove).expect("opens").remove(false, Durability::Rename);
    assert!(matches!(kept, Err(PathError::NotEmpty(_))));
    remove(&allowed, "folder").expect("removes");
    assert!(scene.names(".").is_empty());
    assert_eq!(scene.outside_now(), before);
}
