//! `get_git_diff` on real repositories.

use std::os::unix::fs::symlink;

use serde_json::json;
use tectum_tools::GitSettings;

use crate::{
    analysis_rig::{Repo, house, house_with, make},
    files_rig::{call, run},
};

#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[track_caller]
pub(crate) fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in:\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_since_the_last_commit() {
    let repo = Repo::with(&[("a.txt", "one\ntwo\nthree\n"), ("sub/b.txt", "b\n"), ("same.txt", "s\n")]);
    assert_eq!(repo.all().await, "(no changes)");
    repo.write("a.txt", "one\n2\nthree\n");
    repo.write("sub/b.txt", "b\nmore\n");
    repo.write("untracked.txt", "u\n");
    let (text, data) = repo.call(json!({"path": "."})).await.expect("works");
    has(
        &text,
        &[
            "2 files changed, +2 -1; HEAD (",
            ") to working tree",
            "--- a/a.txt\n+++ b/a.txt\n",
            "-two\n+2\n",
            "+++ b/sub/b.txt\n",
            "+more",
        ],
    );
    lacks(&text, &["untracked", "same.txt"]);
    assert_eq!(data["files"][0], json!({"path": "a.txt", "status": "modified", "added": 1, "removed": 1}));
    assert_eq!((&data["added"], &data["removed"], &data["truncated"]), (&json!(2), &json!(1), &json!(false)));
    let one = repo.diff(json!({"path": "a.txt", "context": 0})).await;
    has(&one, &["1 file changed, +1 -1", "@@ -2 +2 @@"]);
    lacks(&one, &["sub/b.txt", "three"]);
    let stat = repo.diff(json!({"path": ".", "stat": true})).await;
    has(&stat, &["a.txt | modified, +1 -1", "sub/b.txt | modified, +1 -0"]);
    lacks(&stat, &["@@"]);
    for args in [json!({"path": "untracked.txt"}), json!({"path": "untracked.txt", "staged": true})] {
        has(&repo.diff(args).await, &["(no changes: git tracks nothing at untracked.txt"]);
    }
    assert_eq!(repo.diff(json!({"path": "same.txt"})).await, "(no changes)");
    let fault = repo.call(json!({"path": "nowhere.txt"})).await.expect_err("nothing is there");
    has(&fault.text(), &["nowhere.txt does not exist"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_changes_nothing_in_the_repository() {
    let repo = Repo::with(&[("a.txt", "one\n"), ("touched.txt", "same\n"), ("sub/b.txt", "b\n")]);
    repo.write("a.txt", "two\n");
    run("touch", &["-d", "2001-01-01", "touched.txt", "sub/b.txt"], &repo.root);
    let state = || run("sh", &["-c", "find .git -type f | sort | xargs md5sum; find . | sort"], &repo.root);
    let before = state();
    let text = repo.all().await;
    has(&text, &["1 file changed"]);
    lacks(&text, &["touched.txt", "sub/b.txt"]);
    repo.diff(json!({"path": ".", "staged": true})).await;
    repo.diff(json!({"path": "touched.txt", "base_rev": "main"})).await;
    assert_eq!(state(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_shown_as_the_file_has_it() {
    let repo = Repo::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("a.txt", "theirs\n");
    repo.commit("theirs");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "ours\n");
    repo.commit("ours");
    repo.git(&["merge", "-q", "other"]);
    let text = repo.all().await;
    has(&text, &["1 file changed", "+<<<<<<<", "+theirs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn staged_changes_have_a_side_of_their_own() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    repo.write("a.txt", "staged\n");
    repo.write("new.txt", "new\n");
    repo.git(&["add", "-A"]);
    repo.write("a.txt", "later\n");
    let staged = repo.diff(json!({"path": ".", "staged": true})).await;
    has(&staged, &["to index", "+staged", "new file mode 100644", "+new"]);
    lacks(&staged, &["later"]);
    has(&repo.all().await, &["-one\n+later", "+new"]);
    has(
        &repo.error(json!({"path": ".", "staged": true, "head_rev": "HEAD"})).await,
        &["takes no second revision"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_files_and_directories_are_shown() {
    let repo = Repo::with(&[
        ("gone.txt", "was here\n"),
        ("dir/deep/x.txt", "x\n"),
        ("dir/y.txt", "y\n"),
        ("k", "k\n"),
    ]);
    repo.remove("gone.txt");
    repo.git(&["rm", "-rq", "dir"]);
    has(&repo.diff(json!({"path": "gone.txt"})).await, &["deleted file mode", "-was here"]);
    let folder = repo.diff(json!({"path": "dir"})).await;
    has(&folder, &["2 files changed", "-x", "-y"]);
    has(&repo.diff(json!({"path": "dir/deep/x.txt"})).await, &["1 file changed", "-x"]);
    let fault = repo.call(json!({"path": "never/was/here"})).await.expect_err("nothing is there");
    has(&fault.text(), &["never/was/here does not exist"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_file_keeps_its_history() {
    let content: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let repo = Repo::with(&[("old.txt", &content)]);
    repo.git(&["mv", "old.txt", "new.txt"]);
    repo.write("new.txt", content.replace("line 7\n", "line seven\n"));
    let text = repo.all().await;
    has(&text, &["rename from old.txt", "rename to new.txt", "+line seven", "1 file changed, +1 -1;"]);
    repo.git(&["add", "-A"]);
    for args in [json!({"path": ".", "stat": true}), json!({"path": ".", "stat": true, "staged": true})] {
        let (text, data) = repo.call(args).await.expect("works");
        has(&text, &["1 file changed, +1 -1;", "old.txt => new.txt | renamed, +1 -1"]);
        let file =
            json!({"path": "new.txt", "from": "old.txt", "status": "renamed", "added": 1, "removed": 1});
        assert_eq!((&data["files"], &data["files_total"]), (&json!([file]), &json!(1)));
    }
    // From the side of one name it is new.
    has(&repo.diff(json!({"path": "new.txt"})).await, &["new file mode"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_without_a_commit_is_compared_with_nothing() {
    let repo = Repo::new();
    assert_eq!(repo.all().await, "(no changes)");
    repo.write("a.txt", "first\n");
    repo.git(&["add", "-A"]);
    for args in
        [json!({"path": "."}), json!({"path": ".", "staged": true}), json!({"path": ".", "base_rev": "HEAD"})]
    {
        has(&repo.diff(args).await, &["no commit yet", "new file mode", "+first"]);
    }
    has(&repo.error(json!({"path": ".", "base_rev": "main"})).await, &["unknown revision: main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn revisions_are_compared() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    repo.git(&["tag", "v1"]);
    repo.git(&["checkout", "-q", "-b", "feature/login"]);
    repo.write("a.txt", "one\nlogin\n");
    repo.commit("login");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("b.txt", "main\n");
    repo.commit("main goes on");
    let two = json!({"path": ".", "base_rev": "main", "head_rev": "feature/login"});
    has(&repo.diff(two.clone()).await, &["+login", "-main", "2 files changed"]);
    assert_eq!(
        repo.diff(two).await,
        repo.diff(json!({"path": ".", "base_rev": "main..feature/login"})).await
    );
    let fork = repo.diff(json!({"path": ".", "base_rev": "main...feature/login"})).await;
    has(&fork, &["+login", "1 file changed", "where feature/login left main"]);
    lacks(&fork, &["-main"]);
    has(&repo.diff(json!({"path": ".", "base_rev": "v1"})).await, &["v1 (", "+main"]);
    has(&repo.diff(json!({"path": ".", "base_rev": "HEAD~1"})).await, &["+main"]);
    has(&repo.diff(json!({"path": "b.txt", "head_rev": "v1"})).await, &["-main", "HEAD ("]);
    let unknown = repo.error(json!({"path": ".", "base_rev": "feature/logn"})).await;
    has(&unknown, &["unknown revision: feature/logn", "did you mean feature/login?"]);
    has(&repo.error(json!({"path": ".", "head_rev": "0000000"})).await, &["unknown revision: 0000000"]);
    // What is no commit is no revision.
    let blob = repo.git(&["hash-object", "-w", "a.txt"]);
    has(&repo.error(json!({"path": ".", "base_rev": blob.trim()})).await, &["unknown revision"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_spelled_as_other_tools_take_them() {
    // The project is a directory of a larger repository, which the user allows: nothing beside it
    // shows.
    let mut repo = Repo::at("home", "home/code/project");
    for (path, content) in
        [("secret-dotfile", "s\n"), ("code/other/o.txt", "o\n"), ("code/project/src/a.txt", "a\n")]
    {
        repo.write(path, content);
    }
    repo.commit("first");
    for path in ["secret-dotfile", "code/other/o.txt", "code/project/src/a.txt"] {
        repo.write(path, "changed\n");
    }
    let refused = repo.error(json!({"path": "."})).await;
    has(&refused, &["git directory lies at", "home/.git, outside of the served directories", "git_dirs"]);
    let directories = vec![repo.root.join(".git")];
    let git = GitSettings { directories, ..GitSettings::default() };
    repo.house = house_with(&repo.root.join("code/project"), &["get_git_diff"], &[], git);
    for path in [".", "src", "src/a.txt"] {
        let (text, data) = repo.call(json!({"path": path})).await.expect("works");
        has(&text, &["1 file changed", "diff --git a/src/a.txt b/src/a.txt"]);
        lacks(&text, &["secret", "other", "code/", "home"]);
        assert_eq!(data["files"][0]["path"], "src/a.txt");
    }
    // The repository is a directory of the project.
    let repo = Repo::at("project/vendor/lib", "project");
    repo.write("a.txt", "a\n");
    repo.commit("first");
    repo.write("a.txt", "b\n");
    let (text, data) = repo.call(json!({"path": "vendor/lib"})).await.expect("works");
    has(&text, &["diff --git a/vendor/lib/a.txt b/vendor/lib/a.txt"]);
    assert_eq!(data["files"][0]["path"], "vendor/lib/a.txt");
    let outside = repo.error(json!({"path": "."})).await;
    has(&outside, &["not in a git repository", "Hint:"]);
    lacks(&outside, &["project"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_names_are_whole() {
    let names =
        ["näme with spaces.txt", "-O", "--output=x", ":(glob)*", "a*b", "日本語/テスト.md", "quote\".txt"];
    let files: Vec<_> = names.iter().map(|name| (*name, "old\n")).collect();
    let repo = Repo::with(&files);
    for name in names {
        repo.write(name, format!("new {name}\n"));
    }
    let text = repo.all().await;
    has(&text, &["7 files changed"]);
    for name in names {
        has(&text, &[&format!("+new {name}")]);
        let one = repo.diff(json!({"path": name})).await;
        has(&one, &["1 file changed", &format!("+new {name}")]);
    }
    has(&text, &["b/日本語/テスト.md", "b/näme with spaces.txt"]);
    lacks(&text, &["\\3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn line_ends_modes_and_bytes_are_kept() {
    let repo = Repo::with(&[("crlf.txt", "a\r\nb\r\n"), ("run.sh", "echo\n"), ("latin.txt", "x\n")]);
    repo.write("crlf.txt", "a\r\nc\r\n");
    repo.write("latin.txt", b"caf\xe9\n");
    repo.write("image.bin", b"\0\x01\x02");
    repo.git(&["add", "-N", "image.bin"]);
    run("chmod", &["+x", "run.sh"], &repo.root);
    let text = repo.all().await;
    has(
        &text,
        &["-b\r\n+c\r\n", "old mode 100644\nnew mode 100755", "+caf\u{fffd}", "not UTF-8", "Binary files"],
    );
    let (_, data) = repo.call(json!({"path": "image.bin"})).await.expect("works");
    assert_eq!(data["files"][0]["added"], json!(null));
    // Line ends that git itself converts are no change.
    repo.git(&["checkout", "-q", "--", "."]);
    repo.git(&["rm", "-q", "-f", "--cached", "image.bin"]);
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("latin.txt", "x\r\n");
    assert_eq!(repo.diff(json!({"path": "latin.txt"})).await, "(no changes)");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_submodules_are_named_and_break_nothing() {
    let repo = Repo::with(&[("a.txt", "a\n"), ("real/b.txt", "b\n")]);
    symlink("a.txt", repo.root.join("link")).expect("made");
    let library = Repo::with(&[("lib.txt", "1\n")]);
    let library_path = library.root.to_str().expect("UTF-8");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", library_path, "lib"]);
    repo.commit("links");
    assert_eq!(repo.all().await, "(no changes)");
    repo.remove("link");
    symlink("real/b.txt", repo.root.join("link")).expect("made");
    run(
        "git",
        &["-c", "user.name=T", "-c", "user.email=t@e", "commit", "-q", "--allow-empty", "-m", "x"],
        &repo.root.join("lib"),
    );
    repo.write("a.txt", "b\n");
    let text = repo.all().await;
    has(
        &text,
        &[
            "1 file changed",
            "symbolic links changed, their targets are not shown: link.",
            "another commit: lib.",
        ],
    );
    repo.git(&["add", "-A"]);
    has(
        &repo.diff(json!({"path": ".", "staged": true})).await,
        &["3 files changed", "+real/b.txt", "+Subproject commit"],
    );
    // Inside the submodule, its own repository answers.
    repo.write("lib/lib.txt", "2\n");
    has(&repo.diff(json!({"path": "lib/lib.txt"})).await, &["diff --git a/lib/lib.txt b/lib/lib.txt", "+2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_work_tree_works_and_a_linked_git_directory_where_it_is_allowed() {
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let tree = repo.top().join("tree");
    repo.git(&["worktree", "add", "-q", tree.to_str().expect("UTF-8"), "-b", "other"]);
    run("sh", &["-c", "echo changed > a.txt"], &tree);
    let other = house(&tree, &["get_git_diff"], &[]);
    let (text, _) = call(&other, "get_git_diff", json!({"path": "."})).await.expect("works");
    has(&text, &["-a\n+changed"]);
    let linked = repo.top().join("linked");
    make(&linked);
    symlink(repo.root.join(".git"), linked.join(".git")).expect("made");
    run("sh", &["-c", "echo again > a.txt"], &linked);
    let refused = house(&linked, &["get_git_diff"], &[]);
    let fault = call(&refused, "get_git_diff", json!({"path": "."})).await.expect_err("refused");
    has(&fault.text(), &["git directory lies at"]);
    let git = GitSettings { directories: vec![repo.root.clone()], ..GitSettings::default() };
    let linked = house_with(&linked, &["get_git_diff"], &[], git);
    let (text, _) = call(&linked, "get_git_diff", json!({"path": "."})).await.expect("works");
    has(&text, &["-a\n+again"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_diff_is_cut_and_says_so() {
    let repo = Repo::with(&[("small.txt", "s\n"), ("big.txt", "")]);
    repo.write("big.txt", "a line of some length, again and again\n".repeat(20 * 1024 * 1024 / 39));
    repo.write("small.txt", "t\n");
    let (text, data) = repo.call(json!({"path": "."})).await.expect("works");
    assert!(text.len() <= 256 * 1024 && text.starts_with("[cut: "), "{}", text.len());
    has(&text[..500], &["2 files changed", "big.txt | modified, +537731 -0", "small.txt | modified, +1 -1"]);
    has(&text[text.len() - 200..], &["[cut: "]);
    assert_eq!(data["truncated"], json!(true));
    let diff = data["diff"].as_str().expect("text");
    assert!(diff.len() > 200 * 1024 && diff.ends_with("again and again\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_names_are_asked_for_in_parts() {
    let repo = Repo::new();
    let name = |n: usize| format!("{}/{n:04}.txt", "a-directory-with-a-long-name".repeat(5));
    for n in 0..900 {
        repo.write(&name(n), "old\n");
    }
    repo.commit("many");
    for n in 0..900 {
        repo.write(&name(n), "new\n");
    }
    let (text, data) = repo.call(json!({"path": ".", "stat": true})).await.expect("works");
    has(&text, &["900 files changed, +900 -900", "more files"]);
    assert_eq!(
        (data["files_total"].as_u64(), data["files"].as_array().map(Vec::len)),
        (Some(900), Some(500))
    );
    let all = repo.call(json!({"path": ".", "context": 0})).await.expect("works").1;
    assert_eq!(all["truncated"], json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_repository_it_says_so() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let house = house(scratch.path(), &["get_git_diff"], &[]);
    let fault = call(&house, "get_git_diff", json!({"path": "."})).await.expect_err("refused");
    has(&fault.text(), &["not in a git repository", "Hint: "]);
    let repo = Repo::with(&[("a.txt", "a\n")]);
    has(&repo.error(json!({"path": ".git"})).await, &["no work tree"]);
}
