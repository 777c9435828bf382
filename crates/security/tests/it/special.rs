//! What is no plain file: a clear answer, at once.

use std::{os::unix::net::UnixListener, sync::mpsc, time::Duration};

use rustix::{
    fs::{CWD, FileType, Mode, makedev, mknodat},
    io::Errno,
};
use tectum_security::{Access, Allowlist, Kind, PathError};

use crate::scene::{Scene, list, open, read, remove, walk, write};

/// Runs what might hang where hanging can be seen.
fn at_once<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(what()));
    told.recv_timeout(Duration::from_secs(10)).expect("an answer within ten seconds")
}

fn check(list: &Allowlist, path: &str, expect: Kind) {
    for result in [read(list, path).map(drop), write(list, path, "x").map(drop)] {
        match result {
            Err(PathError::NotAFile { kind, .. }) => assert_eq!(kind, expect, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn pipes_and_sockets_are_named_and_never_waited_for() {
    at_once(|| {
        let scene = Scene::new();
        mknodat(CWD, scene.root.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("made");
        scene.link("pipe", "to-pipe");
        let _socket = UnixListener::bind(scene.root.join("socket")).expect("made");
        scene.link("socket", "to-socket");
        let allowed = scene.allowlist();
        check(&allowed, "pipe", Kind::Fifo);
        check(&allowed, "to-pipe", Kind::Fifo);
        check(&allowed, "socket", Kind::Socket);
        check(&allowed, "to-socket", Kind::Socket);
        assert!(
            walk(&allowed, ".").expect("walks").values().all(Option::is_none),
            "nothing there can be read"
        );
        assert!(list(&allowed, "pipe").is_err());
        remove(&allowed, "pipe").expect("a pipe can be taken away");
        remove(&allowed, "socket").expect("a socket can be taken away");
    });
}

#[test]
fn devices_are_named() {
    at_once(|| {
        let scene = Scene::new();
        let made = mknodat(
            CWD,
            scene.root.join("null"),
            FileType::CharacterDevice,
            Mode::from_raw_mode(0o666),
            makedev(1, 3),
        );
        let allowed = scene.allowlist();
        match made {
            Ok(()) => match read(&allowed, "null") {
                Err(PathError::NotAFile { kind: Kind::Device, .. }) => check(&allowed, "null", Kind::Device),
                // A file system mounted without devices says so itself.
                Err(PathError::Io { .. }) => {}
                other => panic!("{other:?}"),
            },
            // Who may not make devices meets them only where they are, and that is outside.
            Err(Errno::PERM | Errno::ACCESS) => assert!(read(&allowed, "/dev/null").is_err()),
            Err(errno) => panic!("{errno}"),
        }
    });
}

#[test]
fn a_directory_is_no_file_and_a_file_no_directory() {
    let scene = Scene::new();
    scene.file("folder/file", "text");
    let allowed = scene.allowlist();
    check(&allowed, "folder", Kind::Directory);
    check(&allowed, "folder/", Kind::Directory);
    for path in ["folder/file/", "folder/file/below"] {
        assert!(matches!(read(&allowed, path), Err(PathError::NotADirectory(_))), "{path}");
    }
    assert!(matches!(write(&allowed, "folder/file/below", "x"), Err(PathError::NotADirectory(_))));
    assert!(matches!(list(&allowed, "folder/file"), Err(PathError::NotADirectory(_))));
    assert_eq!(scene.text("folder/file"), "text");
}

#[test]
fn the_root_itself_cannot_be_taken_away() {
    let scene = Scene::new();
    scene.file("folder/file", "text");
    let allowed = scene.allowlist();
    let full = scene.root.to_str().expect("text").to_owned();
    for path in [
        ".",
        "./",
        "folder/..",
        "folder/../folder/..",
        &full,
        &format!("{full}/."),
        &format!("{full}/folder/.."),
    ] {
        for access in [Access::Remove, Access::Place, Access::Write] {
            assert!(open(&allowed, path, access).is_err(), "{path} {access:?}");
        }
        assert!(open(&allowed, path, Access::Read).is_ok(), "{path}");
    }
}

#[test]
fn a_root_that_moves_is_followed_and_one_that_goes_is_empty() {
    let scene = Scene::new();
    scene
        .file("folder/file", "text")
        .file("secret/a", "hidden")
        .link("folder", "way")
        .link("secret", "detour");
    let allowed = scene.builder().deny(["secret/**"]).build().expect("a snapshot");
    let moved = scene.root.with_file_name("moved");
    std::fs::rename(&scene.root, &moved).expect("moved");
    // What stands at the old name now was never judged.
    std::fs::create_dir_all(scene.root.join("folder")).expect("made");
    std::fs::write(scene.root.join("folder/file"), crate::scene::CANARY).expect("made");
    assert_eq!(read(&allowed, "folder/file").expect("read"), "text");
    assert_eq!(read(&allowed, "way/file").expect("read"), "text");
    assert!(matches!(read(&allowed, "detour/a"), Err(PathError::Denied(_))));
    // The old name below the new place must not lend it a shorter name.
    std::fs::remove_dir_all(&scene.root).expect("removed");
    std::fs::create_dir(&scene.root).expect("made");
    std::fs::rename(&moved, scene.root.join("inner")).expect("moved");
    assert!(matches!(read(&allowed, "detour/a"), Err(PathError::Denied(_))));
    assert_eq!(read(&allowed, "way/file").expect("read"), "text");
    std::fs::remove_dir_all(&scene.root).expect("removed");
    assert!(matches!(read(&allowed, "folder/file"), Err(PathError::NotFound(_))));
    assert!(write(&allowed, "folder/file", "x").is_err());
}

#[test]
fn a_file_can_be_asked_for_twice() {
    let scene = Scene::new();
    scene.file("file", "text");
    let path = open(&scene.allowlist(), "file", Access::Read).expect("opens");
    for _ in 0..2 {
        assert_eq!(path.file().expect("a file").bytes(u64::MAX).expect("read"), b"text");
    }
}

#[test]
fn unreadable_folders_are_counted_not_hidden() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.file("closed/file", "text").file("open/file", "text");
    std::fs::set_permissions(scene.root.join("closed"), std::fs::Permissions::from_mode(0o000))
        .expect("closed");
    let report = open(&scene.allowlist(), ".", Access::Read).expect("opens").walk(2, (), |folder| {
        for entry in folder.entries.clone() {
            folder.descend(&entry.name, ());
        }
        tectum_security::Flow::Continue
    });
    // The open file is no folder; behind the closed door is either the same or nothing to be seen.
    assert_eq!(report.expect("walks").unreadable, 2);
    std::fs::set_permissions(scene.root.join("closed"), std::fs::Permissions::from_mode(0o755))
        .expect("opened");
}
