//! The watch: what changed is known exactly, what is lost is said, and what was learned in one
//! view is not used in another.

use std::{
    collections::BTreeSet,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Mutex,
};

use tectum_security::{Access, Allowlist, Changes, Flow, Hide, Kind, SafePath, View, Watch};

use crate::scene::{Scene, open, write};

/// Walks the tree below a path with a watch over it.
fn watched(path: &SafePath) -> (Watch, BTreeSet<PathBuf>) {
    let watch = Watch::new(path).expect("a watch");
    let seen = Mutex::new(BTreeSet::new());
    path.walk_watched(2, (), Some(&watch), |folder| {
        for entry in folder.entries.clone() {
            if entry.kind == Kind::Directory {
                folder.descend(&entry.name, ());
            }
            seen.lock().expect("unbroken").insert(folder.path.join(&entry.name));
        }
        Flow::Continue
    })
    .expect("walks");
    assert!(watch.whole());
    (watch, seen.into_inner().expect("unbroken"))
}

fn root(list: &Allowlist) -> SafePath {
    open(list, ".", Access::Read).expect("opens")
}

#[track_caller]
fn check(watch: &Watch, folders: &[&str], files: &[&str]) {
    let set = |names: &[&str]| names.iter().map(PathBuf::from).collect();
    assert_eq!(watch.changes(), Changes::Known { folders: set(folders), files: set(files) });
}

#[test]
fn every_change_is_told_once_by_its_path() {
    let scene = Scene::new();
    scene.file("a.txt", "one").file("sub/deep/b.txt", "two");
    let (watch, seen) = watched(&root(&scene.allowlist()));
    assert_eq!(seen.len(), 4);
    check(&watch, &[], &[]);
    std::fs::write(scene.root.join("sub/deep/b.txt"), "three").expect("written");
    check(&watch, &[], &["sub/deep/b.txt"]);
    check(&watch, &[], &[]);
    std::fs::rename(scene.root.join("a.txt"), scene.root.join("sub/c.txt")).expect("renamed");
    check(&watch, &[], &["a.txt", "sub/c.txt"]);
    std::fs::create_dir(scene.root.join("new")).expect("made");
    std::fs::remove_file(scene.root.join("sub/c.txt")).expect("removed");
    check(&watch, &["new"], &["sub/c.txt"]);
    std::fs::set_permissions(scene.root.join("sub/deep/b.txt"), std::fs::Permissions::from_mode(0o600))
        .expect("changed");
    check(&watch, &[], &["sub/deep/b.txt"]);
}

#[test]
fn a_folder_that_is_moved_or_removed_is_told() {
    let scene = Scene::new();
    scene.file("sub/deep/b.txt", "two");
    let (watch, _) = watched(&root(&scene.allowlist()));
    std::fs::rename(scene.root.join("sub/deep"), scene.root.join("away")).expect("renamed");
    let Changes::Known { folders, .. } = watch.changes() else { panic!("known") };
    assert!(folders.contains(Path::new("away")) && folders.contains(Path::new("sub/deep")), "{folders:?}");
    std::fs::remove_dir(scene.root.join("sub")).expect("removed");
    let Changes::Known { folders, .. } = watch.changes() else { panic!("known") };
    assert!(folders.contains(Path::new("sub")), "{folders:?}");
}

#[test]
fn the_writes_of_the_house_are_told_like_any_other() {
    let scene = Scene::new();
    scene.file("a.txt", "one");
    let list = scene.allowlist();
    let (watch, _) = watched(&root(&list));
    write(&list, "a.txt", "two").expect("written");
    let Changes::Known { files, .. } = watch.changes() else { panic!("known") };
    assert!(files.contains(Path::new("a.txt")), "{files:?}");
}

#[test]
fn a_queue_that_ran_over_and_a_start_that_went_are_lost() {
    let scene = Scene::new();
    scene.file("sub/a.txt", "one");
    let list = scene.allowlist();
    let (watch, _) = watched(&open(&list, "sub", Access::Read).expect("opens"));
    // More events than the kernel queues, each unlike the one before it.
    let queued = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a number");
    let queued: usize = queued.trim().parse().expect("a number");
    let (one, two) = (scene.root.join("sub/one"), scene.root.join("sub/two"));
    std::fs::write(&one, "").expect("made");
    for _ in 0..=queued / 4 {
        std::fs::rename(&one, &two).expect("renamed");
        std::fs::rename(&two, &one).expect("renamed");
    }
    assert_eq!(watch.changes(), Changes::Lost);
    check(&watch, &[], &[]);
    std::fs::rename(scene.root.join("sub"), scene.root.join("gone")).expect("renamed");
    assert_eq!(watch.changes(), Changes::Lost);
}

#[test]
fn too_many_changes_are_lost_too() {
    let scene = Scene::new();
    let (watch, _) = watched(&root(&scene.allowlist()));
    let mut name = scene.root.join("first");
    std::fs::write(&name, "").expect("made");
    // Two events each, so that the kernel's own queue holds them.
    for n in 0..4_500 {
        let next = scene.root.join(n.to_string());
        std::fs::rename(&name, &next).expect("renamed");
        name = next;
    }
    assert_eq!(watch.changes(), Changes::Lost);
}

#[test]
fn a_view_is_one_directory_under_one_policy_and_one_set_of_rules() {
    let scene = Scene::new();
    scene.file("sub/a.txt", "one");
    let (list, other) = (scene.allowlist(), scene.allowlist());
    let path = root(&list);
    let view = View::of(&path);
    assert!(view.serves(&path) && view.serves(&root(&list)));
    assert!(!view.serves(&root(&other)), "a like policy is not the same");
    assert!(!view.serves(&open(&list, "sub", Access::Read).expect("opens")));
    let hide = Hide::new(|_| None);
    assert!(!view.serves(&root(&list).hiding(hide.clone())));
    let hiding = View::of(&root(&list).hiding(hide.clone()));
    assert!(hiding.yields_to(&root(&list)) && !view.yields_to(&root(&list)));
    assert!(hiding.serves(&root(&list).hiding(hide)));
    assert!(!hiding.serves(&root(&list)) && !hiding.serves(&root(&list).hiding(Hide::new(|_| None))));
    let sub = View::of(&open(&list, "sub", Access::Read).expect("opens"));
    std::fs::rename(scene.root.join("sub"), scene.root.join("old")).expect("renamed");
    scene.file("sub/a.txt", "other");
    let now = open(&list, "sub", Access::Read).expect("opens");
    assert!(!sub.serves(&now) && sub.yields_to(&now), "another directory stands there");
}

#[test]
fn a_file_below_is_opened_as_a_walk_would() {
    let scene = Scene::new();
    scene.file("sub/a.txt", "one").file("sub/.env", "secret").hard_link("sub/.env", "sub/alias");
    scene.file("kept/hidden/b.txt", "two").link(&scene.outside, "out").link("sub", "way");
    let path = root(&scene.allowlist());
    let opens = |path: &SafePath, below: &str| path.open_below(Path::new(below)).is_some();
    assert!(opens(&path, "sub/a.txt") && opens(&path, "kept/hidden/b.txt"));
    for below in [
        "sub/.env",
        "sub/alias",
        "out/file.txt",
        "way/a.txt",
        "sub/../sub/a.txt",
        "sub",
        "none",
        "/etc/passwd",
    ] {
        assert!(!opens(&path, below), "{below}");
    }
    let hidden = path.hiding(Hide::new(|name| (name == "kept/hidden").then(|| "rule".to_owned())));
    assert!(!opens(&hidden, "kept/hidden/b.txt"), "a hidden folder hides what it holds");
    assert!(opens(&hidden, "sub/a.txt"));
}

#[test]
fn stamps_tell_states_apart() {
    let scene = Scene::new();
    scene.file("sub/a.txt", "one").file("b.txt", "two").link(&scene.outside, "out");
    let path = root(&scene.allowlist());
    let stamp = |below: &str| path.stamp_below(Path::new(below));
    let before = stamp("sub/a.txt").expect("there");
    assert_eq!(stamp("sub/a.txt"), Some(before));
    std::fs::write(scene.root.join("sub/a.txt"), "longer").expect("written");
    assert_ne!(stamp("sub/a.txt"), Some(before));
    assert_eq!(stamp("none"), None);
    assert_eq!(stamp("out/file.txt"), None, "no link is followed on the way");
    assert_eq!(stamp("b.txt").expect("there").links, 1);
    scene.hard_link("b.txt", "c.txt");
    assert_eq!(stamp("b.txt").expect("there").links, 2);
    let below = open(&scene.allowlist(), "sub", Access::Read).expect("opens");
    let above = |names: &[&str]| below.stamps_above(&names.iter().map(Path::new).collect::<Vec<_>>());
    assert_eq!(above(&["b.txt", "none"]).iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
}
