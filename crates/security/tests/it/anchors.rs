//! Directories that open nothing and from which names are judged all the same.

use tectum_security::{Access, Allowlist, RawPath, Reason};

use crate::scene::{Scene, open};

fn scene() -> Scene {
    let scene = Scene::new();
    scene
        .file("vault/note.txt", "secret")
        .file("src/plain.txt", "plain")
        .hard_link("vault/note.txt", "src/hard.txt");
    scene
}

/// Only this part of the tree is a base; the whole of it is the anchor.
fn part(scene: &Scene, base: &str) -> Allowlist {
    let builder = Allowlist::builder().base(scene.root.join(base)).anchor(&scene.root);
    builder.deny(["vault/**"]).read_only(["src/plain.txt"]).build().expect("a snapshot")
}

#[test]
fn a_pattern_holds_below_an_anchor_whatever_part_of_it_is_a_base() {
    let scene = scene();
    let vault = part(&scene, "vault");
    for path in ["note.txt", ".", "new.txt"] {
        let denied = open(&vault, path, Access::Read).expect_err("closed");
        assert!(matches!(denied.reason, Reason::Protected { .. }), "{path}: {}", denied.reason);
    }
    let src = part(&scene, "src");
    assert!(open(&src, "plain.txt", Access::Read).is_ok());
    let denied = open(&src, "plain.txt", Access::Write).expect_err("read-only");
    assert!(matches!(denied.reason, Reason::ReadOnly { .. }), "{}", denied.reason);
}

#[test]
fn a_protected_name_below_an_anchor_protects_the_other_names_of_its_file() {
    let scene = scene();
    let denied = open(&part(&scene, "src"), "hard.txt", Access::Read).expect_err("closed");
    assert!(matches!(denied.reason, Reason::ProtectedAlias), "{}", denied.reason);
}

#[test]
fn a_tracked_file_is_judged_from_the_anchor() {
    let scene = scene();
    let builder = Allowlist::builder().base(scene.root.join("src")).anchor(&scene.root);
    let list =
        builder.tracked(scene.root.join("vault/note.txt")).deny(["vault/**"]).build().expect("a snapshot");
    let path = scene.root.join("vault/note.txt").display().to_string();
    assert!(open(&list, &path, Access::Read).is_err());
}

#[test]
fn an_anchor_alone_opens_nothing() {
    let scene = scene();
    let list = Allowlist::builder().anchor(&scene.root).build().expect("a snapshot");
    let full = scene.root.join("src/plain.txt").display().to_string();
    for path in ["src/plain.txt", ".", "src", &full] {
        let denied = open(&list, path, Access::Read).expect_err("closed");
        assert!(matches!(denied.reason, Reason::Outside), "{path}: {}", denied.reason);
    }
    assert!(list.base_directories().is_empty());
}

#[test]
fn names_are_spelled_from_the_anchor() {
    let scene = scene();
    let list = part(&scene, "src");
    let subject = |path: &str| list.subject(&RawPath::from(path)).expect("a name");
    assert!(list.is_moved());
    assert_eq!(list.anchored(&subject("plain.txt")), "src/plain.txt");
    assert_eq!(list.anchored(&subject(".")), "src");
    assert_eq!(list.anchored(&subject(&scene.root.display().to_string())), ".");
    assert_eq!(list.anchored(&subject("/elsewhere/x")), "/elsewhere/x");
}
