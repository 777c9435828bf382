//! Repositories whose parts lie outside of what is served, and a process that swaps a repository
//! for another one while git works: nothing of the other one shows.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use serde_json::json;
use tectum_core::{FaultKind, Tectum};
use tectum_tools::GitSettings;

use crate::{
    analysis_git::{has, lacks},
    analysis_rig::{house, house_with, make},
    files_rig::{call, run},
};

const CANARY: &str = "canary-91c3";

/// A served directory `W` with a repository `a` in it, and a repository `O` beside it that holds
/// the canary.
struct Yard {
    _scratch: tempfile::TempDir,
    top: PathBuf,
}

impl Yard {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let top = scratch.path().canonicalize().expect("its true name");
        repository(&top.join("W/a"), "inside");
        repository(&top.join("O"), CANARY);
        Self { _scratch: scratch, top }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn text(&self, path: &str) -> String {
        self.at(path).to_str().expect("UTF-8").to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.at(path), text);
    }

    fn house(&self) -> Tectum {
        house(&self.at("W"), &["get_git_diff"], &[])
    }

    /// A house without the kernel's confinement of git, where the same is refused.
    fn unconfined(&self) -> Tectum {
        let git = GitSettings { confined: false, ..GitSettings::default() };
        house_with(&self.at("W"), &["get_git_diff"], &[], git)
    }

    /// The refusal of a call, which must not show anything of the other repository.
    async fn refused(&self, path: &str) -> String {
        for args in [json!({"path": path}), json!({"path": path, "head_rev": "HEAD", "base_rev": "HEAD~1"})] {
            for house in [self.house(), self.unconfined()] {
                let fault = call(&house, "get_git_diff", args.clone()).await.expect_err("refused");
                lacks(&fault.text(), &[CANARY]);
                assert_eq!(fault.kind, FaultKind::Permission, "{}", fault.text());
            }
        }
        let fault = call(&self.house(), "get_git_diff", json!({"path": path})).await.expect_err("refused");
        fault.text()
    }

    async fn diff(&self, path: &str) -> String {
        let free = call(&self.unconfined(), "get_git_diff", json!({"path": path})).await.expect("works").0;
        let confined = call(&self.house(), "get_git_diff", json!({"path": path})).await.expect("works").0;
        assert_eq!(free, confined);
        confined
    }
}

#[expect(clippy::disallowed_methods, reason = "the test makes its own trees")]
fn write(path: &Path, text: &str) {
    make(path.parent().expect("a folder"));
    fs::write(path, text).expect("written");
}

#[expect(clippy::disallowed_methods, reason = "the test takes its own trees apart")]
fn clear(path: &Path) {
    fs::remove_dir_all(path).expect("removed");
}

#[expect(clippy::disallowed_methods, reason = "the test moves its own files")]
fn rename(from: &Path, to: &Path) {
    fs::rename(from, to).expect("moved");
}

/// Two commits and a change, each of which holds the word.
fn repository(folder: &Path, word: &str) {
    make(folder);
    git(folder, &["init", "-q", "-b", "main"]);
    for step in ["first", "second"] {
        write(&folder.join("f.txt"), &format!("{word} {step}\n"));
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", step]);
    }
    write(&folder.join("f.txt"), &format!("{word} now\n"));
}

fn git(folder: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    run("git", &[&who[..], &["-c", "protocol.file.allow=always"], args].concat(), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_directory_elsewhere_is_refused() {
    let yard = Yard::new();
    yard.write("W/file/f.txt", "mine\n");
    yard.write("W/file/.git", &format!("gitdir: {}\n", yard.text("O/.git")));
    yard.write("W/relative/.git", "gitdir: ../../O/.git\n");
    make(&yard.at("W/link"));
    symlink(yard.at("O/.git"), yard.at("W/link/.git")).expect("linked");
    // A file in the project may also name a link that leads out.
    symlink(yard.at("O"), yard.at("W/way")).expect("linked");
    yard.write("W/two/.git", "gitdir: ../way/.git\n");
    for path in ["file", "relative", "link", "two"] {
        let said = yard.refused(path).await;
        let place = yard.text("O/.git");
        has(&said, &["git directory lies at", &place, "git_dirs", "your own tectum.toml"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_and_a_common_directory_elsewhere_are_refused() {
    let yard = Yard::new();
    let head = git(&yard.at("O"), &["rev-parse", "HEAD"]);
    // Alternates: HEAD is a commit that only the other store has.
    yard.write("W/a/.git/objects/info/alternates", &format!("{}\n", yard.text("O/.git/objects")));
    yard.write("W/a/.git/refs/heads/main", &head);
    let said = yard.refused("a").await;
    has(&said, &["object store lies at", &yard.text("O/.git/objects"), "git_dirs"]);
    // A store whose own alternates lead out, relative to it.
    make(&yard.at("W/store/info"));
    yard.write("W/store/info/alternates", "../../O/.git/objects\n");
    yard.write("W/a/.git/objects/info/alternates", "# a comment\n\n../../../store\n");
    has(&yard.refused("a").await, &["object store lies at"]);
    // `objects` itself is a link.
    repository(&yard.at("W/b"), "inside");
    clear(&yard.at("W/b/.git/objects"));
    symlink(yard.at("O/.git/objects"), yard.at("W/b/.git/objects")).expect("linked");
    yard.write("W/b/.git/refs/heads/main", &head);
    has(&yard.refused("b").await, &["object store lies at"]);
    repository(&yard.at("W/c"), "inside");
    yard.write("W/c/.git/commondir", &yard.text("O/.git"));
    let said = yard.refused("c").await;
    has(&said, &["common git directory lies at", &yard.text("O/.git")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_deep_in_a_git_directory_show_nothing() {
    let yard = Yard::new();
    let head = git(&yard.at("O"), &["rev-parse", "HEAD"]);
    for folder in ["W/a", "O"] {
        git(&yard.at(folder), &["gc", "-q"]);
    }
    clear(&yard.at("W/a/.git/objects/pack"));
    symlink(yard.at("O/.git/objects/pack"), yard.at("W/a/.git/objects/pack")).expect("linked");
    yard.write("W/a/.git/HEAD", &head);
    for args in [json!({"path": "a"}), json!({"path": "a", "base_rev": "HEAD~1", "head_rev": "HEAD"})] {
        let said = match call(&yard.house(), "get_git_diff", args).await {
            Ok((text, data)) => format!("{text}{data}"),
            Err(fault) => fault.text(),
        };
        lacks(&said, &[CANARY]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_included_from_elsewhere_is_refused() {
    let yard = Yard::new();
    yard.write("O/more", "[core]\n\tautocrlf = true\n");
    git(&yard.at("W/a"), &["config", "include.path", &yard.text("O/more")]);
    has(&yard.refused("a").await, &["included configuration lies at", &yard.text("O/more"), "git_dirs"]);
    yard.write("W/a/.git/more", "[include]\n\tpath = ../../../O/more\n");
    git(&yard.at("W/a"), &["config", "include.path", "more"]);
    has(&yard.refused("a").await, &["included configuration lies at"]);
    git(&yard.at("W/a"), &["config", "include.path", "none-there"]);
    has(&yard.diff("a").await, &["+inside now"]);
    rename(&yard.at("W/a/.git/config"), &yard.at("O/config"));
    symlink(yard.at("O/config"), yard.at("W/a/.git/config")).expect("linked");
    has(&yard.refused("a").await, &["configuration lies at", &yard.text("O/config")]);
    rename(&yard.at("O/config"), &yard.at("W/a/.git/config"));
    has(&yard.diff("a").await, &["+inside now"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_true_worktree_and_a_true_submodule_work() {
    let yard = Yard::new();
    clear(&yard.at("W"));
    git(&yard.at("O"), &["worktree", "add", "-q", &yard.text("W"), "-b", "other"]);
    yard.write("W/f.txt", "mine\n");
    has(&yard.diff(".").await, &["+mine"]);
    // Another folder that says it is that worktree is none.
    let told = git(&yard.at("W"), &["rev-parse", "--absolute-git-dir"]);
    yard.write("W/sub/.git", &format!("gitdir: {told}"));
    has(&yard.refused("sub").await, &["git directory lies at"]);
    // Its alternates lead further than the repository it belongs to.
    repository(&yard.at("P"), CANARY);
    yard.write("O/.git/objects/info/alternates", &yard.text("P/.git/objects"));
    has(&yard.refused(".").await, &["object store lies at", &yard.text("P/.git/objects")]);

    let yard = Yard::new();
    repository(&yard.at("super"), "super");
    git(&yard.at("super"), &["submodule", "add", "-q", &yard.text("W/a"), "lib"]);
    write(&yard.at("super/lib/f.txt"), "mine\n");
    let served = house(&yard.at("super/lib"), &["get_git_diff"], &[]);
    let (text, _) = call(&served, "get_git_diff", json!({"path": "."})).await.expect("works");
    has(&text, &["+mine"]);
    // Another folder that says it is that submodule is none.
    yard.write("W/sub/.git", &format!("gitdir: {}", yard.text("super/.git/modules/lib")));
    has(&yard.refused("sub").await, &["git directory lies at"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_a_rule_protects_is_not_shown_by_another_name() {
    let yard = Yard::new();
    repository(&yard.at("W/secret"), CANARY);
    yard.write("W/b/.git", "gitdir: ../secret/.git\n");
    let house = house(&yard.at("W"), &["get_git_diff"], &["*(secret/**)"]);
    let fault = call(&house, "get_git_diff", json!({"path": "b"})).await.expect_err("refused");
    has(&fault.text(), &["git directory lies at", "a rule protects"]);
}

/// Swaps the names of two repositories again and again while they are compared.
#[test]
#[expect(clippy::disallowed_methods, reason = "this is the attacker; it knows no gate")]
fn soak_a_repository_swapped_for_another_one_shows_nothing_of_it() {
    let calls = if std::env::var_os("TECTUM_SOAK").is_some() { 15_000 } else { 60 };
    let yard = Yard::new();
    symlink("../O", yard.at("W/l")).expect("linked");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let [repo, link, away] = ["W/a", "W/l", "W/away"].map(|path| yard.at(path));
    let (shown, failed, foreign) = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Each name stands for a while that is never the same, so that every step of a call
            // meets a swap now and then.
            let pause = |millis| std::thread::sleep(std::time::Duration::from_millis(millis));
            let pauses = [5, 1, 12, 3, 8, 20, 2].iter().cycle().zip([0, 3, 1, 9, 2, 6].iter().cycle());
            for (real, foreign) in pauses.take_while(|_| !over.load(Ordering::Relaxed)) {
                let _ = fs::rename(&repo, &away);
                let _ = fs::rename(&link, &repo);
                pause(*foreign);
                let _ = fs::rename(&repo, &link);
                let _ = fs::rename(&away, &repo);
                swaps.fetch_add(2, Ordering::Relaxed);
                pause(*real);
            }
        });
        let (mut shown, mut failed, mut foreign) = (0, 0, 0);
        let house = yard.house();
        while shown + failed < calls {
            let args = match (shown + failed) % 3 {
                0 => json!({"path": "a"}),
                1 => json!({"path": "a/f.txt"}),
                _ => json!({"path": "a", "base_rev": "HEAD~1", "head_rev": "HEAD"}),
            };
            let said = match runtime.block_on(call(&house, "get_git_diff", args)) {
                Ok((text, data)) => {
                    shown += 1;
                    format!("{text}{data}")
                }
                Err(fault) if fault.text().contains("not in allowlist") => {
                    // The gate met the link; git was not asked.
                    std::thread::yield_now();
                    continue;
                }
                Err(fault) => {
                    failed += 1;
                    fault.text()
                }
            };
            foreign += usize::from(said.contains(CANARY));
        }
        over.store(true, Ordering::Relaxed);
        (shown, failed, foreign)
    });
    println!(
        "soak: git shows nothing of a repository that takes another's name | {calls} calls, {} swaps, \
         {shown} shown, {failed} refused or failed, {foreign} foreign",
        swaps.into_inner()
    );
    assert_eq!(foreign, 0);
    // Once nobody renames, the same call works.
    let (text, _) =
        runtime.block_on(call(&yard.house(), "get_git_diff", json!({"path": "a"}))).expect("works");
    has(&text, &["+inside now"]);
}
