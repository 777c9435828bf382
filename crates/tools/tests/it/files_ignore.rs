//! Ignore rules: the same files as git, file by file.

use std::collections::BTreeSet;

use serde_json::json;

use crate::files_rig::{Rig, run};

/// Every name made of these parts, in every folder made of these parts.
fn tree(rig: &Rig) -> Vec<String> {
    let folders = ["", "a/", "b/", "build/", "a/build/", "a/b/", "a/b/keep/", "b/logs/", "b/a/b/", "x y/"];
    let names =
        ["x.o", "keep.o", "a.log", "main.c", "build", "trail ", "#hash", "!bang", "ünï.o", "deep.tmp"];
    let mut files = Vec::new();
    for folder in folders {
        for name in names {
            let is_a_folder = name == "build" && ["", "a/"].contains(&folder);
            if is_a_folder {
                continue;
            }
            let path = format!("{folder}{name}");
            rig.write(&path, "needle\n");
            files.push(path);
        }
    }
    files
}

async fn check(rules: &[(&str, &str)]) {
    let rig = Rig::new();
    run("git", &["init", "-q"], rig.root());
    let files = tree(&rig);
    for (path, rules) in rules {
        rig.write(path, rules);
    }
    let git = run("git", &["ls-files", "-z", "--others", "--exclude-standard"], rig.root());
    let visible = |path: &&str| !path.is_empty() && !path.starts_with('.') && !path.contains("/.");
    let git: BTreeSet<String> = git.split('\0').filter(visible).map(str::to_owned).collect();
    let data = rig
        .data("search_content", json!({"path": ".", "pattern": "needle", "mode": "files", "limit": 10_000}))
        .await;
    let ours: BTreeSet<String> = data["matches"]
        .as_array()
        .expect("files")
        .iter()
        .map(|hit| hit["path"].as_str().expect("a path").to_owned())
        .collect();
    assert_eq!(ours, git, "{rules:?}");
    assert!(git.len() < files.len() || rules.is_empty(), "the rules hide something: {rules:?}");
    // The other tools see the same.
    let names = rig.data("search_files", json!({"path": ".", "pattern": "**", "limit": 10_000})).await;
    let names: BTreeSet<String> = names["matches"]
        .as_array()
        .expect("files")
        .iter()
        .filter(|hit| hit["kind"] == "file")
        .map(|hit| hit["path"].as_str().expect("a path").to_owned())
        .filter(|path| visible(&path.as_str()))
        .collect();
    assert_eq!(names, git, "search_files: {rules:?}");
    // From a folder further down the rules above still count.
    let below =
        rig.data("search_content", json!({"path": "a/b", "pattern": "needle", "mode": "files"})).await;
    let below: BTreeSet<String> = below["matches"]
        .as_array()
        .expect("files")
        .iter()
        .map(|hit| hit["path"].as_str().expect("a path").to_owned())
        .collect();
    let git_below: BTreeSet<String> = git.into_iter().filter(|path| path.starts_with("a/b/")).collect();
    if !git_below.is_empty() {
        assert_eq!(below, git_below, "from a/b: {rules:?}");
    }
}

#[tokio::test]
async fn they_agree_with_git() {
    check(&[]).await;
    check(&[(".gitignore", "*.o\n!keep.o\n")]).await;
    check(&[(".gitignore", "build/\n*.log\n"), ("a/.gitignore", "!*.log\n")]).await;
    check(&[(".gitignore", "/build\n/a/b\n")]).await;
    check(&[(".gitignore", "*\n!*/\n!*.c\n")]).await;
    check(&[(".gitignore", "a/**/x.o\n**/logs/**\n"), ("b/.gitignore", "/main.c\na/\n")]).await;
    check(&[(".gitignore", "*.o\n"), ("a/b/.gitignore", "!x.o\nkeep/*\n!keep/main.c\n")]).await;
    check(&[(".gitignore", "# a comment\n\\#hash\n\\!bang\ntrail\\ \n*.tmp   \n")]).await;
    check(&[(".gitignore", "[xk]*.o\n?.log\nx y/\n")]).await;
    check(&[(".git/info/exclude", "*.log\n"), (".gitignore", "!a.log\n*.o\n")]).await;
    check(&[(".git/info/exclude", "build\nünï*\n")]).await;
    check(&[(".gitignore", "a/b/\n!a/b/keep/\n")]).await;
}

#[tokio::test]
async fn ripgreps_own_file_outranks_gits() {
    let rig = Rig::with(&[
        (".gitignore", "*.log\n"),
        (".ignore", "!keep.log\nsecret.txt\n"),
        ("keep.log", "needle"),
        ("other.log", "needle"),
        ("sub/.gitignore", "!secret.txt\n"),
        ("sub/secret.txt", "needle"),
        (".dotted", "needle"),
        ("dots/.ignore", "!.kept\n"),
        ("dots/.kept", "needle"),
    ]);
    let text = rig.text("search_content", json!({"path": ".", "pattern": "needle"})).await;
    let rows = "dots/.kept:1: needle\nkeep.log:1: needle\n";
    assert_eq!(text, format!("{rows}2 matches in 2 files; skipped: 2 ignored, 5 hidden"));
}

#[tokio::test]
async fn rules_of_an_outer_repository_stop_at_an_inner_one() {
    let rig = Rig::with(&[
        (".gitignore", "*.log\n"),
        ("inner/.git/HEAD", "ref: refs/heads/main\n"),
        ("inner/.git/info/exclude", "*.tmp\n"),
        ("inner/a.log", "needle"),
        ("inner/deep/b.log", "needle"),
        ("inner/c.tmp", "needle"),
        ("outer.log", "needle"),
    ]);
    for (path, expect) in [(".", 2), ("inner", 2), ("inner/deep", 1)] {
        let data = rig.data("search_content", json!({"path": path, "pattern": "needle"})).await;
        assert_eq!(data["files_matched"], expect, "{path}: {data}");
    }
}

#[tokio::test]
async fn a_directory_that_is_named_is_searched_though_rules_empty_it() {
    let rig = Rig::with(&[
        (".gitignore", "scripts/*\nother/**\n*.log\n"),
        ("scripts/run.sh", "needle"),
        ("other/deep/run.sh", "needle"),
        ("kept/a.sh", "needle"),
        ("kept/b.log", "needle"),
    ]);
    for (path, expect) in [("scripts", 1), ("other", 1), ("kept", 1), (".", 1)] {
        let data = rig.data("search_files", json!({"path": path, "pattern": "*.{sh,log}"})).await;
        assert_eq!(data["total"], expect, "{path}: {data}");
        let data = rig.data("search_content", json!({"path": path, "pattern": "needle"})).await;
        assert_eq!(data["files_matched"], expect, "{path}: {data}");
    }
}
