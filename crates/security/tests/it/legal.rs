//! Legal paths in every spelling: none is refused.

use std::os::unix::fs::symlink;

use tectum_security::{Access, Allowlist, Links};

use crate::scene::{Scene, open, read};

/// Names people use, and names that only look like trouble.
const NAMES: &[&str] = &[
    "plain.txt",
    "with space.txt",
    " leading and trailing ",
    "dots.in.the.name",
    "...",
    "..x",
    "x..",
    "....",
    ".hidden",
    "-rf",
    "--help",
    "back\\slash",
    "\\one",
    "..\\up",
    "naïve-日本語-🦀.md",
    "Ελληνικά",
    "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
    "100%",
    "%2e%2e",
    "~",
    "~tilde",
    "$HOME",
    "a:b",
    "cc:/",
    "q?*[x]{y}",
    "quote'\"`",
    "semi;colon&and|pipe",
    "nul",
    "con.txt",
    "trailing.",
    "(deleted)",
    "gone (deleted)",
    "environment.rs",
    "myhistory.toml",
    "config.toml.md",
    ".gitignore",
    "tectum.rs",
];

/// Folders, each linked to from the root, and one as deep as a careful person would go.
const FOLDERS: &[&str] = &["", "src/", "src/a b/", "-x/..y/", "日本/語/", "src/./a b/"];

#[test]
fn no_legal_path_is_refused() {
    let scene = Scene::new();
    let alias = scene.root.with_file_name("alias");
    symlink(&scene.root, &alias).expect("made");
    let deep = "d/".repeat(60);
    let folders: Vec<&str> = FOLDERS.iter().copied().chain([deep.as_str()]).collect();
    for (n, folder) in folders.iter().enumerate() {
        for name in NAMES {
            scene.file(&format!("{folder}{}", name.trim_end_matches('/')), &content(name));
        }
        let target = if folder.is_empty() { "." } else { folder };
        scene.link(target, &format!("way{n}")).link(format!("way{n}"), &format!("far{n}"));
    }
    let allowed = Allowlist::builder().base(&alias).build().expect("a snapshot");
    let strict = Allowlist::builder().base(&alias).links(Links::Never).build().expect("a snapshot");
    let roots = [scene.root.display().to_string(), alias.display().to_string()];
    let mut tried = 0;
    for (n, folder) in folders.iter().enumerate() {
        for name in NAMES {
            let name = name.trim_end_matches('/');
            for path in spellings(folder, name, &roots) {
                tried += check(&allowed, &path, name) + check(&strict, &path, name);
            }
            // After a link, `..` leads to the folder above the linked one: from `src`, the root.
            let back = if *folder == "src/" {
                format!("way{n}/../way{n}/{name}")
            } else {
                format!("way{n}//{name}")
            };
            for link in [format!("way{n}/{name}"), format!("far{n}/./{name}"), back] {
                for path in spellings("", &link, &roots) {
                    tried += check(&allowed, &path, name);
                }
            }
        }
    }
    println!("{tried} legal paths, 0 refused");
    assert!(tried >= 10_000, "the promised number, not {tried}");
}

fn content(name: &str) -> String {
    format!("this is {}", name.trim_end_matches('/'))
}

fn spellings(folder: &str, name: &str, roots: &[String; 2]) -> Vec<String> {
    let mut spellings = vec![
        format!("./{folder}{name}"),
        format!("{folder}./{name}"),
        format!("{folder}.//{name}"),
        format!("src/../{folder}{name}"),
        format!("src/a b/../../{folder}{name}"),
        format!("./src/./../{folder}/./{name}").replace("..//", "../"),
    ];
    // A name that begins like a share or a drive needs the words before it.
    if !(folder.is_empty() && name.starts_with(r"\\")) {
        spellings.push(format!("{folder}{name}"));
    }
    for root in roots {
        spellings.push(format!("{root}/{folder}{name}"));
        spellings.push(format!("{root}//{folder}{name}"));
        spellings.push(format!("{root}/src/../{folder}{name}"));
    }
    spellings
}

/// Reads it, and opens it for every kind of change; returns how many paths that were.
fn check(allowed: &Allowlist, path: &str, name: &str) -> usize {
    match read(allowed, path) {
        Ok(text) => assert_eq!(text, content(name), "{path:?}"),
        Err(error) => panic!("{path:?}: {error}"),
    }
    for access in [Access::Write, Access::Remove, Access::Place] {
        if let Err(denied) = open(allowed, path, access) {
            panic!("{path:?} {access:?}: {denied}");
        }
    }
    1
}

#[test]
fn one_file_has_one_name() {
    let scene = Scene::new();
    scene.file("sub/file", "text").link("sub", "way");
    let nested = scene.root.join("sub");
    let allowed = scene.builder().base(&nested).build().expect("a snapshot");
    let root = scene.root.display();
    for path in
        ["sub/file", "way/file", "sub/../sub/file", &format!("{root}/sub/file"), &format!("{root}/way/file")]
    {
        assert_eq!(open(&allowed, path, Access::Read).expect("opens").name(), "sub/file", "{path}");
    }
    let subject = |path: &str| allowed.subject(&path.into());
    assert_eq!(subject(&format!("{root}/sub/./file")).as_deref(), Some("sub/file"));
    assert_eq!(subject(&format!("{root}/way/../sub/file")).as_deref(), Some("sub/file"));
    // From a nested root, `..` leads into the root around it.
    scene.file("beside", "text");
    assert_eq!(read(&allowed, &format!("{root}/sub/../beside")).expect("read"), "text");
}

#[test]
fn tracked_files_open_themselves_and_nothing_beside() {
    let scene = Scene::new();
    let other = scene.top().join("other");
    std::fs::create_dir(&other).expect("made");
    for name in ["tracked", "beside"] {
        std::fs::write(other.join(name), name).expect("made");
    }
    let allowed = scene.builder().tracked(other.join("tracked")).build().expect("a snapshot");
    let path = |name: &str| other.canonicalize().expect("there").join(name).display().to_string();
    assert_eq!(read(&allowed, &path("tracked")).expect("read"), "tracked");
    for beside in ["beside", "tracked/../beside", "new", "."] {
        assert!(open(&allowed, &path(beside), Access::Read).is_err(), "{beside}");
        assert!(open(&allowed, &path(beside), Access::Write).is_err(), "{beside}");
    }
    let alone = Allowlist::builder().tracked(other.join("tracked")).build().expect("a snapshot");
    assert_eq!(read(&alone, "tracked").expect("read"), "tracked");
    assert_eq!(read(&alone, "./tracked").expect("read"), "tracked");
    assert!(open(&alone, "beside", Access::Read).is_err());
    assert!(open(&alone, ".", Access::Read).is_err());
}

#[test]
fn a_file_is_compared_with_all_of_its_bytes() {
    const PIECE: usize = 64 * 1024;
    let scene = Scene::new();
    let allowed = scene.allowlist();
    for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
        let content: String = "0123456789".chars().cycle().take(size).collect();
        scene.file("compared", &content);
        let holds = |other: &[u8]| {
            let path = open(&allowed, "compared", Access::Read).expect("granted");
            path.file().expect("a file").holds(other).expect("read")
        };
        assert!(holds(content.as_bytes()), "{size}");
        assert!(!holds(format!("{content}0").as_bytes()), "{size}");
        if size > 0 {
            assert!(!holds(&content.as_bytes()[1..]), "{size}");
            assert!(!holds(format!("{}x", &content[1..]).as_bytes()), "{size}");
            assert!(!holds(format!("{}x", &content[..size - 1]).as_bytes()), "{size}");
        }
    }
}
