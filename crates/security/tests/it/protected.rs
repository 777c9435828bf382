//! Protected names under every alias: never read, written, made, taken away or shown.

use tectum_security::{Access, Allowlist, Denied, Layer, PathError, RawPath, Reason, TrackedOpens};

use crate::scene::{Scene, list, open, read, remove, rename, walk, write};

/// What a leak would show.
const SECRET: &str = "s3cret";

fn scene() -> Scene {
    let scene = Scene::new();
    scene
        .file(".env", SECRET)
        .file("keys/server.pem", SECRET)
        .file("vault/inner/note.txt", SECRET)
        .file("team/chat_history.toml", SECRET)
        .file(".git/config", "[core]")
        .file("plain.txt", "plain")
        .file("folder/plain.txt", "plain")
        .link(".env", "to-env")
        .link("to-env", "to-to-env")
        .link("keys", "to-keys")
        .link("vault", "to-vault")
        .link("vault/inner", "to-inner")
        .link(".git", "to-git")
        .link("../.env", "folder/up")
        .link(".env.absent", "to-absent")
        .hard_link(".env", "hard")
        .hard_link("vault/inner/note.txt", "folder/hard");
    scene
}

fn rules(scene: &Scene) -> Allowlist {
    scene.builder().deny(["vault/**", "*.absent"]).build().expect("a snapshot")
}

/// No access opens it, and nothing tells whether it exists.
fn closed(list: &Allowlist, path: &str) {
    for access in [Access::Read, Access::Write] {
        match open(list, path, access) {
            Err(Denied { reason, .. }) => {
                let names =
                    matches!(reason, Reason::Protected { .. } | Reason::ProtectedAlias | Reason::HardLinked);
                assert!(names, "{path} {access:?}: {reason}");
            }
            Ok(_) => panic!("{path} opened for {access:?}"),
        }
    }
}

#[test]
fn every_alias_of_a_protected_file_is_closed() {
    let scene = scene();
    let allowed = rules(&scene);
    let root = scene.root.display();
    let aliases = [
        ".env",
        ".ENV",
        ".Env",
        "./.env",
        "folder/../.env",
        "folder/./.././.env",
        "to-keys/../.env",
        "to-env",
        "to-to-env",
        "folder/up",
        "hard",
        "keys/server.pem",
        "keys/SERVER.PEM",
        "to-keys/server.pem",
        "to-keys/Server.Pem",
        "vault/inner/note.txt",
        "VAULT/inner/note.txt",
        "folder/../vault/inner/note.txt",
        "to-vault/inner/note.txt",
        "to-inner/note.txt",
        "to-inner/../inner/note.txt",
        "folder/hard",
        "team/chat_history.toml",
        "team/CHAT_History.toml",
        // Absent ones answer alike: nobody learns what exists.
        ".env.local",
        "folder/.env",
        "new/folder/id.key",
        "vault/new",
        "folder/../vault/new",
        "to-vault/new",
        "to-inner/new",
        "to-keys/new.pem",
        "config.toml",
        "a/credentials.toml",
        "server.\u{212a}ey",
        ".e\u{200d}nv",
    ];
    for alias in aliases {
        closed(&allowed, alias);
        closed(&allowed, &format!("{root}/{alias}"));
    }
    assert!(matches!(read(&allowed, "to-absent"), Err(PathError::NotFound(_))), "there is nothing to read");
    let written =
        open(&allowed, "to-absent", Access::Write).map(drop).expect_err("never made through a link");
    assert_eq!(written.reason, Reason::Dangling);
    assert_eq!(scene.text(".env"), SECRET);
}

#[test]
fn names_cannot_be_taken_from_or_given_to_protected_files() {
    let scene = scene();
    let allowed = rules(&scene);
    let names = [
        ".env",
        ".Env",
        "folder/../.env",
        "keys/server.pem",
        "to-keys/server.pem",
        "vault",
        "vault/inner",
        "to-vault/inner",
        "to-inner/note.txt",
        "folder/new.key",
        ".git/config",
        "to-git/config",
        "to-git/hooks/pre-commit",
        ".GIT/hooks/x",
        "tectum.toml",
    ];
    for name in names {
        assert!(matches!(remove(&allowed, name), Err(PathError::Denied(_))), "remove {name}");
        assert!(matches!(rename(&allowed, name, "folder/taken"), Err(PathError::Denied(_))), "from {name}");
        assert!(matches!(rename(&allowed, "plain.txt", name), Err(PathError::Denied(_))), "to {name}");
    }
    // A link to a protected file is itself no secret, and taking it away changes nothing else.
    remove(&allowed, "to-env").expect("removes the link");
    assert_eq!(scene.text(".env"), SECRET);
    assert_eq!(scene.text("plain.txt"), "plain");
}

#[test]
fn folders_do_not_carry_protected_files_away() {
    let scene = scene();
    let allowed =
        scene.builder().deny(["vault/**", "box/*/pin"]).read_only(["flows/jobs/**"]).build().expect("made");
    scene.file("box/a/pin", SECRET).file("flows/jobs/one.yml", "job").file("outer/.git/config", "[core]");
    for folder in ["keys", "team", "vault", "box", "box/a", "flows", "outer"] {
        assert!(matches!(rename(&allowed, folder, "elsewhere"), Err(PathError::Denied(_))), "move {folder}");
        assert!(matches!(remove(&allowed, folder), Err(PathError::Denied(_))), "remove {folder}");
    }
    for file in [".env", "keys/server.pem", "vault/inner/note.txt", "box/a/pin"] {
        assert_eq!(scene.text(file), SECRET);
    }
    rename(&allowed, "folder", "elsewhere").expect("a folder without secrets moves");
}

#[test]
fn folders_do_not_bring_protected_files_along() {
    let scene = Scene::new();
    scene.file("made/jobs/evil.yml", "run").file("made/b/pin", "fake");
    let allowed =
        scene.builder().deny(["box/*/pin"]).read_only(["flows/jobs/**"]).build().expect("a snapshot");
    assert!(matches!(write(&allowed, "flows/jobs/evil.yml", "run"), Err(PathError::Denied(_))));
    assert!(matches!(rename(&allowed, "made", "flows"), Err(PathError::Denied(_))));
    assert!(matches!(rename(&allowed, "made", "box"), Err(PathError::Denied(_))));
    assert_eq!(scene.names("."), ["made"]);
    rename(&allowed, "made", "new/place").expect("elsewhere they are welcome");
}

#[test]
fn listings_and_walks_never_show_them() {
    let scene = scene();
    let allowed = rules(&scene);
    let names = list(&allowed, ".").expect("lists");
    assert!(!names.iter().any(|name| name == ".env" || name == "vault"), "{names:?}");
    assert!(list(&allowed, "keys").expect("lists").is_empty());
    assert_eq!(open(&allowed, "keys", Access::Read).expect("opens").list(10).expect("lists").denied, 1);
    for hidden in ["vault", "to-vault", "to-inner", "folder/../vault"] {
        assert!(matches!(list(&allowed, hidden), Err(PathError::Denied(_))), "{hidden}");
    }
    let found = walk(&allowed, ".").expect("walks");
    for (path, content) in &found {
        assert!(content.as_deref() != Some(SECRET), "{} gave it away", path.display());
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(!name.ends_with(".pem") && name != ".env" && name != "vault", "{}", path.display());
    }
    assert_eq!(found[std::path::Path::new("folder/plain.txt")].as_deref(), Some("plain"));
}

#[test]
fn version_control_is_readable_and_never_changed() {
    let scene = scene();
    let allowed = rules(&scene);
    for path in [
        ".git/config",
        "to-git/config",
        ".git/hooks/new",
        "to-git/hooks/new",
        ".Git/x",
        "tectum.toml",
        "sub/TECTUM.toml",
    ] {
        assert!(
            matches!(
                write(&allowed, path, "x"),
                Err(PathError::Denied(Denied { reason: Reason::ReadOnly { .. }, .. }))
            ),
            "{path}"
        );
    }
    assert_eq!(read(&allowed, "to-git/config").expect("read"), "[core]");
}

#[test]
fn nested_roots_share_their_rules() {
    let scene = Scene::new();
    scene.file("sub/secret/file", SECRET).file("secret/file", "plain");
    let sub = scene.root.join("sub");
    let full = sub.join("secret/file").display().to_string();
    // Read from the outer root, the rule is about `sub/secret`; the inner root must know.
    let outer = scene.builder().base(&sub).deny(["sub/secret/**"]).build().expect("a snapshot");
    // Read from the inner root it is about `secret` there; the outer root must know.
    let inner = scene.builder().base(&sub).deny(["secret/**"]).build().expect("a snapshot");
    for allowed in [&outer, &inner] {
        for path in ["sub/secret/file", "sub/../sub/secret/file", full.as_str()] {
            closed(allowed, path);
        }
        assert!(!walk(allowed, ".").expect("walks").values().flatten().any(|text| text == SECRET));
        assert!(
            !walk(allowed, sub.to_str().expect("text"))
                .expect("walks")
                .values()
                .flatten()
                .any(|t| t == SECRET)
        );
        assert!(matches!(rename(allowed, "sub", "other"), Err(PathError::Denied(_))));
    }
    assert_eq!(read(&outer, "secret/file").expect("read"), "plain");
}

#[test]
fn a_tracked_file_is_no_way_around_the_rules_of_its_base() {
    let scene = scene();
    let builder = scene.builder().deny(["vault/**"]).tracked(scene.root.join("vault/inner/note.txt"));
    let allowed = builder.tracked(scene.root.join(".git/config")).build().expect("a snapshot");
    let full = |path: &str| scene.root.join(path).display().to_string();
    closed(&allowed, &full("vault/inner/note.txt"));
    closed(&allowed, "vault/inner/note.txt");
    assert!(open(&allowed, &full(".git/config"), Access::Write).is_err());
    assert!(open(&allowed, &full(".git/config"), Access::Read).is_ok());
    let wide = scene.builder().deny(["vault/**"]).tracked_opens(TrackedOpens::Directory);
    let wide = wide.tracked(scene.root.join("vault/inner/note.txt")).build().expect("a snapshot");
    closed(&wide, &full("vault/inner/note.txt"));
}

#[test]
fn a_hard_link_is_found_across_roots_and_as_soon_as_it_is_made() {
    let scene = Scene::new();
    let other = scene.root.with_file_name("other");
    std::fs::create_dir(&other).expect("made");
    std::fs::write(other.join(".env"), SECRET).expect("made");
    std::fs::hard_link(other.join(".env"), scene.root.join("across")).expect("made");
    scene.file("one", "plain").hard_link("one", "two");
    let allowed = scene.builder().base(&other).build().expect("a snapshot");
    assert_eq!(read(&allowed, "two").expect("two plain names are fine"), "plain");
    closed(&allowed, "across");
    // The look at the tree is fresh now; a link made after it must still be seen.
    scene.file("late.pem", SECRET);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(read(&allowed, "two").expect("read"), "plain");
    scene.hard_link("late.pem", "late");
    closed(&allowed, "late");
    assert!(!walk(&allowed, ".").expect("walks").values().flatten().any(|text| text == SECRET));
}

#[test]
fn breaking_hard_links_does_not_open_protected_ones() {
    let scene = scene();
    let allowed = scene.builder().deny(["vault/**"]).break_hard_links(true).build().expect("a snapshot");
    closed(&allowed, "hard");
    closed(&allowed, "folder/hard");
    scene.file("one", "old").hard_link("one", "two");
    assert_eq!(write(&allowed, "one", "new").expect("written"), Some("old".into()));
    assert_eq!((scene.text("one"), scene.text("two")), ("new".into(), "old".into()));
    // What is swapped in after the gate judged is judged when it is read.
    let place = open(&allowed, "plain.txt", Access::Write).expect("opens");
    std::fs::remove_file(scene.root.join("plain.txt")).expect("removed");
    scene.hard_link(".env", "plain.txt");
    let batch = tectum_security::Batch::open(&[&place], 100);
    assert!(
        matches!(batch, Err(PathError::Denied(Denied { reason: Reason::ProtectedAlias, .. }))),
        "{batch:?}"
    );
}

#[test]
fn a_rule_may_be_written_with_the_full_name_of_a_root() {
    let scene = scene();
    let alias = scene.root.with_file_name("alias");
    std::os::unix::fs::symlink(&scene.root, &alias).expect("made");
    for root in [&scene.root, &alias] {
        let rule = format!("{}/vault/**", root.display());
        let allowed = Allowlist::builder().base(&alias).deny([rule]).build().expect("a snapshot");
        closed(&allowed, "vault/inner/note.txt");
        closed(&allowed, "to-inner/note.txt");
    }
}

#[test]
fn built_in_names_may_be_opened_but_not_our_own_files() {
    let scene = scene();
    scene.file(".tectum/log", SECRET).file(".tectum-1-2.tmp", SECRET);
    let allowed = scene.builder().open([".env"]).deny(["*.secret"]).build().expect("a snapshot");
    assert_eq!(read(&allowed, ".env").expect("read"), SECRET);
    for path in [".tectum/log", ".tectum-1-2.tmp", "history.toml", "x.secret", ".env.local"] {
        closed(&allowed, path);
    }
    let allowed = scene.builder().open(["*"]).deny(["*.env"]).build().expect("a snapshot");
    for path in [".tectum/log", ".tectum-1-2.tmp", ".env"] {
        closed(&allowed, path);
    }
}

#[test]
fn without_links_none_is_followed() {
    let scene = scene();
    scene.file("sub/file", "text").link("sub", "way").link("sub/file", "file");
    let allowed = scene.builder().links(tectum_security::Links::Never).build().expect("a snapshot");
    for path in ["way/file", "file", "way/../sub/file", "way/new", "way", "to-absent"] {
        for access in [Access::Read, Access::Write] {
            let denied = open(&allowed, path, access).map(drop).expect_err(path);
            assert_eq!((denied.layer, denied.reason), (Layer::Resolve, Reason::Link), "{path} {access:?}");
        }
    }
    assert_eq!(read(&allowed, "sub/../sub/file").expect("read"), "text");
}

#[test]
fn a_refusal_shows_what_was_typed_and_nothing_moves_on_the_screen() {
    let scene = Scene::new();
    let denied = scene.allowlist().admit(&RawPath::new("../a\u{202e}b\u{2066}\u{1b}[2J"), Access::Read);
    let text = denied.map(drop).expect_err("refused").to_string();
    assert!(text.contains("\\u{202e}") && text.contains("\\u{1b}") && text.contains("\\u{2066}"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text}");
}

#[test]
fn every_spelling_that_some_file_system_takes_for_a_protected_name_is_closed() {
    let scene = Scene::new();
    let allowed = scene.builder().deny(["Stra\u{df}e.txt", "caf\u{e9}/**", "private notes"]).build();
    let allowed = allowed.expect("a snapshot");
    let hidden = [
        // Composed and decomposed, in either case.
        "cafe\u{301}/a",
        "CAFE\u{301}/a",
        "CAF\u{c9}/a",
        // Full case folding: the sharp s in both cases, the long s, the Kelvin sign, both i's of Turkish.
        "STRASSE.txt",
        "stra\u{1e9e}e.TXT",
        "hi\u{17f}tory.toml",
        "server.\u{212a}EY",
        "h\u{131}story.toml",
        "H\u{130}STORY.toml",
        // Characters that show nothing.
        ".e\u{200c}nv",
        ".env\u{feff}",
        "\u{2060}.env",
        "config\u{ad}.toml",
        "con\u{e0001}fig.toml",
        "config.to\u{fe0f}ml",
        // Dots and spaces at the end, and streams.
        "config.toml.",
        "config.toml. .",
        "config.toml ",
        "config.toml::$DATA",
        "server.pem:stream",
        "server.pem.",
        "caf\u{e9}./a",
        "deep/.env:x/y",
        // Short names.
        "CONFIG~1.TOM",
        "config~12.tom",
        "ENV~1",
        "ENVLOC~1",
        "CREDEN~1.TOM",
        "CHAT_H~2.TOM",
        "TECTUM~1",
        "PRIVAT~1",
        "co1f2e~1.tom",
    ];
    for name in hidden {
        closed(&allowed, name);
    }
    let read_only = [
        ".g\u{200d}it/config",
        ".GIT\u{200b}/config",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        "GIT~2/hooks/x",
        "gi7eba~1/config",
        ".g\u{131}t/config",
        "tectum.toml.",
        "TECTUM~1.TOM:x",
    ];
    for name in read_only {
        let refused = write(&allowed, name, "x");
        let kinds = matches!(
            &refused,
            Err(PathError::Denied(Denied { reason: Reason::ReadOnly { .. } | Reason::Protected { .. }, .. }))
        );
        assert!(kinds, "{name:?}: {refused:?}");
    }
    // What only looks alike stays open.
    for name in ["cafe/a", "notes~1.txt", "git~", "a:b", "dots...txt", "env", "strase.txt", "\u{e9}nv"] {
        write(&allowed, name, "x").unwrap_or_else(|error| panic!("{name:?}: {error}"));
    }
}

#[test]
fn an_allowed_directory_in_another_one_is_neither_moved_nor_removed() {
    let scene = Scene::new();
    scene.file("sub/a.txt", "a");
    let nested = scene.root.join("sub");
    let list = scene.builder().base(&nested).build().expect("a snapshot");
    let full = nested.display().to_string();
    for typed in ["sub", "./sub", full.as_str()] {
        for access in [Access::Remove, Access::Write] {
            let refused = open(&list, typed, access).expect_err("it stays as it is");
            assert!(refused.to_string().contains("allowed directory itself"), "{typed}: {refused}");
        }
    }
    assert!(nested.is_dir());
}
