//! Programs and files that a project could bring along behind the binary: a git or a toolchain of its
//! own, parts of a repository elsewhere, or, in a served home, the user's git configuration.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::{cli_said::Said, rig::Rig};

fn git(rig: &Rig, folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    let mut command = rig.command("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder).args(who).args(args);
    assert!(command.status().expect("runs").success(), "{args:?}");
}

/// A repository with a change.
fn repository(rig: &Rig, folder: &Path) {
    fs::create_dir_all(folder).expect("made");
    git(rig, folder, &["init", "-q"]);
    fs::write(folder.join("a.txt"), "one\n").expect("written");
    git(rig, folder, &["add", "a.txt"]);
    git(rig, folder, &["commit", "-q", "-m", "first"]);
    fs::write(folder.join("a.txt"), "two\n").expect("written");
}

fn diff(rig: &Rig, path: Option<&str>) -> Said {
    let mut command = rig.tectum();
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.args(["call", "get_git_diff", "path=."]).output().expect("runs").into()
}

#[test]
fn a_git_of_the_project_is_not_run() {
    let rig = Rig::new();
    repository(&rig, &rig.project());
    let mark = rig.outside().join("mark");
    rig.write("bin/git", format!("#!/bin/sh\necho ran > {}\n", mark.display()));
    let own = rig.project().join("bin");
    fs::set_permissions(own.join("git"), fs::Permissions::from_mode(0o755)).expect("set");
    let path = std::env::var("PATH").expect("a path");
    let said = diff(&rig, Some(&format!("{}:{path}", own.display())));
    assert!(said.out.contains("-one\n+two"), "{}{}", said.out, said.err);
    // Through a link that lies elsewhere it is the project's all the same.
    let away = rig.outside().join("away");
    fs::create_dir(&away).expect("made");
    std::os::unix::fs::symlink(own.join("git"), away.join("git")).expect("linked");
    for path in [own, away] {
        let said = diff(&rig, path.to_str());
        assert_ne!(said.code, 0);
        assert!(said.err.contains("git is not run: what was found,"), "{}", said.err);
        assert!(said.err.contains("belongs to the served project"), "{}", said.err);
    }
    assert!(!mark.exists());
}

#[test]
fn a_served_home_tells_git_nothing_but_what_is_harmless() {
    let rig = Rig::new();
    let home = rig.home();
    repository(&rig, &home);
    let target = rig.outside().join("written");
    let trap = rig.outside().join("ran");
    let hook = rig.outside().join("hook");
    fs::write(&hook, format!("#!/bin/sh\necho > {}\n", trap.display())).expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    let (target_text, hook) = (target.display(), hook.display());
    let text = format!(
        "[trace2]\n\teventTarget = {target_text}\n\tnormalTarget = {target_text}\n\tperfTarget = {target_text}\n\
         [core]\n\tautocrlf = true\n\tfsmonitor = {hook}\n\tpager = {hook}\n[diff]\n\texternal = {hook}\n"
    );
    fs::create_dir_all(home.join("config/git")).expect("made");
    fs::write(home.join("config/git/config"), &text).expect("written");
    fs::write(home.join(".gitconfig"), text).expect("written");
    let call = || {
        let mut command = rig.tectum();
        command.current_dir(&home).args(["call", "get_git_diff", "path=."]);
        Said::from(command.output().expect("runs"))
    };
    let said = call();
    assert!(said.out.contains("-one\n+two"), "{}{}", said.out, said.err);
    assert!(!target.exists() && !trap.exists());
    // What makes a comparison right for the user still holds.
    fs::write(home.join("a.txt"), "one\r\n").expect("written");
    let said = call();
    assert!(said.out.contains("(no changes)"), "{}{}", said.out, said.err);
    assert!(!target.exists() && !trap.exists());
}

#[test]
fn only_the_user_allows_a_git_directory_elsewhere() {
    let rig = Rig::new();
    let other = rig.outside().canonicalize().expect("its true name").join("other");
    repository(&rig, &other);
    rig.write(".git", format!("gitdir: {}\n", other.join(".git").display()));
    rig.write("a.txt", "mine\n");
    let said = diff(&rig, None);
    let allowed = format!("[workspace]\ngit_dirs = [\"{}\"]\n", other.join(".git").display());
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("git_dirs"), "{}", said.err);
    rig.write("tectum.toml", &allowed);
    let said = diff(&rig, None);
    assert!(
        said.code != 0 && said.err.contains("`workspace.git_dirs` is ignored in a project's file"),
        "{}",
        said.err
    );
    fs::remove_file(rig.project().join("tectum.toml")).expect("removed");
    rig.configure(&allowed);
    let said = diff(&rig, None);
    assert!(said.out.contains("-one\n+mine"), "{}{}", said.out, said.err);
}

/// A rustup as far as it matters: under its own name it says what it would start, under any other
/// it starts that.
const RUSTUP: &str = "#!/bin/sh
own=$(sed -n 's/^path = \"\\(.*\\)\"/\\1/p' rust-toolchain.toml)
case \"$0\" in
    */rustup) echo \"$own/bin/$2\" ;;
    *) exec \"$own/bin/${0##*/}\" \"$@\" ;;
esac
";

#[test]
fn a_toolchain_of_the_project_is_not_run() {
    let rig = Rig::with(&[("src/main.rs", "fn main() {}\n")]);
    rig.configure("[permissions]\nallow = [\"check_errors\"]\n");
    let mark = rig.outside().join("mark");
    let own = rig.project().join("own");
    rig.write("rust-toolchain.toml", format!("[toolchain]\npath = \"{}\"\n", own.display()));
    let bin = rig.outside().join("bin");
    fs::create_dir(&bin).expect("made");
    fs::write(bin.join("rustup"), RUSTUP).expect("written");
    for name in ["rust-analyzer", "cargo", "rustc"] {
        rig.write(&format!("own/bin/{name}"), format!("#!/bin/sh\necho ran > {}\n", mark.display()));
        fs::set_permissions(own.join("bin").join(name), fs::Permissions::from_mode(0o755)).expect("set");
        std::os::unix::fs::symlink("rustup", bin.join(name)).expect("linked");
    }
    fs::set_permissions(bin.join("rustup"), fs::Permissions::from_mode(0o755)).expect("set");
    let mut command = rig.tectum();
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let said: Said =
        command.args(["call", "check_errors", "path=src/main.rs"]).output().expect("runs").into();
    assert_ne!(said.code, 0);
    assert!(said.err.contains("rustup would start"), "{}", said.err);
    assert!(said.err.contains("belongs to the served project"), "{}", said.err);
    assert!(!mark.exists());
}
