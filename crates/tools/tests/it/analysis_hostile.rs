//! Repositories that would like to run a program, names that must not show, and callers that
//! would like git to do something else.

use std::{os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    analysis_git::{has, lacks},
    analysis_rig::{Repo, house},
    files_rig::{call, mkfifo, run},
};

/// A script that leaves a mark when anybody runs it, and what it would be run for.
fn trap(repo: &Repo) -> String {
    let mark = repo.top().join("mark");
    let script = repo.top().join("trap.sh");
    let text = format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", mark.display());
    place(&script, &text);
    script.to_str().expect("UTF-8").to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the test makes the trap itself")]
fn place(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

#[expect(clippy::disallowed_methods, reason = "the test looks for the mark of its trap")]
fn mark(repo: &Repo) -> Option<String> {
    std::fs::read_to_string(repo.top().join("mark")).ok()
}

fn hostile() -> Repo {
    let repo = Repo::with(&[("a.txt", "one\n"), ("b.evil", "b\n"), ("sub/c.txt", "c\n")]);
    repo.write(".gitattributes", "* filter=evil diff=evil\n*.evil filter=worse.one merge=evil\n");
    repo.commit("attributes");
    let trap = trap(&repo);
    repo.write(".git/info/attributes", "* filter=third diff=evil\n");
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"] {
        place(&repo.root.join(".git/hooks").join(hook), &format!("#!/bin/sh\nexec {trap}\n"));
    }
    let included = repo.root.join(".git/included");
    place(&included, &format!("[filter \"third\"]\n\tclean = {trap} third\n\trequired = true\n"));
    let config = format!(
        "[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\tsshCommand = {trap}\n\taskPass = {trap}\n\teditor = {trap}\n\
         \tgitProxy = {trap}\n\talternateRefsCommand = {trap}\n\
         [diff]\n\texternal = {trap}\n\torderFile = {trap}\n\trelative = true\n\tnoprefix = true\n\
         [pager]\n\tdiff = {trap}\n\trev-parse = {trap}\n\tconfig = {trap}\n\
         [alias]\n\tdiff = !{trap}\n\trev-parse = !{trap}\n\
         [diff \"evil\"]\n\tcommand = {trap}\n\ttextconv = {trap}\n\tcachetextconv = true\n\
         [filter \"evil\"]\n\tclean = {trap} clean\n\tsmudge = {trap} smudge\n\tprocess = {trap} process\n\trequired = true\n\
         [filter \"worse.one\"]\n\tclean = {trap} clean\n\trequired = true\n\
         [filter \"=odd name=\"]\n\tprocess = {trap} odd\n\
         [credential]\n\thelper = !{trap}\n\
         [include]\n\tpath = {}\n",
        included.display()
    );
    append(&repo.root.join(".git/config"), &config);
    repo
}

#[expect(clippy::disallowed_methods, reason = "the test makes the configuration worse")]
fn append(path: &Path, text: &str) {
    let before = std::fs::read_to_string(path).expect("readable");
    std::fs::write(path, before + text).expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_configuration_runs_a_program() {
    let repo = hostile();
    repo.write("a.txt", "two\n");
    repo.write("b.evil", "two\n");
    repo.write("sub/c.txt", "c\nmore\n");
    let calls = [
        json!({"path": "."}),
        json!({"path": "a.txt"}),
        json!({"path": "b.evil", "staged": true}),
        json!({"path": ".", "stat": true}),
        json!({"path": ".", "base_rev": "HEAD~1", "head_rev": "HEAD"}),
        json!({"path": ".", "base_rev": "HEAD~1...main"}),
    ];
    for args in calls {
        repo.diff(args.clone()).await;
        assert_eq!(mark(&repo), None, "{args}");
    }
    repo.error(json!({"path": ".", "base_rev": "mian"})).await;
    let text = repo.diff(json!({"path": "."})).await;
    assert!(text.contains("3 files changed") && text.contains("-one\n+two"), "{text}");
    assert!(text.contains("diff --git a/sub/c.txt b/sub/c.txt"), "{text}");
    assert_eq!(mark(&repo), None);
    // The trap is a good one: git itself falls into it.
    run("git", &["diff"], &repo.root);
    assert!(mark(&repo).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submodule_runs_no_program_either() {
    let library = Repo::with(&[("lib.txt", "1\n")]);
    let repo = Repo::with(&[("a.txt", "a\n")]);
    let from = library.root.to_str().expect("UTF-8");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", from, "lib"]);
    repo.commit("with a library");
    let trap = trap(&repo);
    append(
        &repo.root.join(".git/modules/lib/config"),
        &format!("[filter \"inner\"]\n\tclean = {trap}\n[core]\n\tfsmonitor = {trap}\n"),
    );
    repo.write(".git/modules/lib/info/attributes", "* filter=inner\n");
    repo.write("lib/lib.txt", "changed\n");
    repo.write("a.txt", "b\n");
    for path in [".", "lib", "lib/lib.txt"] {
        repo.diff(json!({"path": path})).await;
        assert_eq!(mark(&repo), None, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_never_an_option() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    repo.write("a.txt", "two\n");
    let target = repo.top().join("written");
    for bad in [
        format!("--output={}", target.display()),
        "-O".into(),
        format!("-O{}", target.display()),
        "HEAD --ext-diff".into(),
        "--no-index".into(),
        "--ext-diff".into(),
        "HEAD\n--ext-diff".into(),
        "HEAD..--output=x".into(),
        "HEAD:a.txt".into(),
        "^HEAD".into(),
        "--".into(),
        "\u{1}".into(),
        String::new(),
    ] {
        for args in [json!({"path": ".", "base_rev": bad}), json!({"path": ".", "head_rev": bad})] {
            let said = repo.error(args).await;
            assert!(said.starts_with("ERROR: ") && said.contains("Hint: "), "{bad:?}: {said}");
        }
    }
    assert!(!target.exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), " M a.txt\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_work_tree_named_elsewhere_is_refused() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    let elsewhere = Repo::with(&[("a.txt", "canary\n")]);
    repo.git(&["config", "core.worktree", elsewhere.root.to_str().expect("UTF-8")]);
    let said = repo.error(json!({"path": "."})).await;
    assert!(!said.contains("canary") && !said.contains("repo/"), "{said}");
    assert!(said.contains("work tree"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_an_agent_can_write_is_none() {
    // A directory that looks like a bare repository could hold any configuration.
    let repo = Repo::at("elsewhere", "project");
    run("git", &["init", "-q", "--bare", "project/bare"], &repo.top());
    let said = repo.error(json!({"path": "bare"})).await;
    assert!(said.starts_with("ERROR: "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_does_not_lead_git_astray() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    repo.write("a.txt", "two\n");
    // What a relative PATH would find first.
    let trap = trap(&repo);
    place(&repo.root.join("git"), &format!("#!/bin/sh\nexec {trap}\n"));
    let text = repo.diff(json!({"path": "."})).await;
    assert!(text.contains("+two"), "{text}");
    assert_eq!(mark(&repo), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_protected_or_ruled_out_never_shows() {
    let repo = Repo::with(&[
        ("open.txt", "o\n"),
        ("config.toml", "token = 1\n"),
        ("sub/server.pem", "k\n"),
        ("hush/x.txt", "h\n"),
    ]);
    repo.write("open.txt", "opened\n");
    for path in ["config.toml", "sub/server.pem", "hush/x.txt"] {
        repo.write(path, "hidden-word\n");
    }
    repo.write(".env", "hidden-word\n");
    repo.git(&["add", "-A"]);
    for args in
        [json!({"path": "."}), json!({"path": ".", "staged": true}), json!({"path": ".", "stat": true})]
    {
        let (text, data) = call(&house(&repo.root, &["get_git_diff"], &["*(hush/**)"]), "get_git_diff", args)
            .await
            .expect("works");
        has(&text, &["open.txt", "Note: 4 changed names are protected and were left out."]);
        for given in [text, data.to_string()] {
            lacks(&given, &["hidden-word", "config.toml", "server.pem", ".env", "hush"]);
        }
    }
    repo.commit("second");
    let old = repo.diff(json!({"path": ".", "base_rev": "HEAD~1", "head_rev": "HEAD"})).await;
    has(&old, &["3 changed names"]);
    lacks(&old, &["server.pem", ".env"]);
    // Nor does a move out of a protected name tell what was in it.
    repo.git(&["mv", "config.toml", "plain.txt"]);
    let moved = repo.all().await;
    lacks(&moved, &["config.toml", "rename from"]);
    for path in ["config.toml", "sub/server.pem", ".env"] {
        has(&repo.error(json!({"path": path})).await, &["ERROR"]);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_ends_git() {
    let repo = Arc::new(Repo::with(&[("a.txt", "one\n")]));
    // Git waits for ever on a configuration that nobody writes.
    let pipe = repo.root.join(".git/pipe");
    mkfifo(&pipe);
    append(&repo.root.join(".git/config"), &format!("[include]\n\tpath = {}\n", pipe.display()));
    let caller = repo.clone();
    let call = tokio::spawn(async move { caller.diff(json!({"path": "."})).await });
    while running(&repo.root) == 0 {
        assert!(!call.is_finished());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    call.abort();
    assert!(call.await.is_err());
    while running(&repo.root) > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The number of programs that work in this directory.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the test asks the system who works where")]
fn running(folder: &Path) -> usize {
    let ours = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy() != ours)
        .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
        .count()
}
