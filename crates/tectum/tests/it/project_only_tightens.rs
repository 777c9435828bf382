//! A project's `tectum.toml` against the user's: whatever it says, no call passes that the user's
//! file alone refuses.

use crate::rig::Rig;

/// The secret of the user.
const CANARY: &str = "canary-7f3a";

/// One attack: both files, and calls that the user's file alone refuses.
struct Attack<'a> {
    user: &'a str,
    project: &'a str,
    calls: &'a [&'a [&'a str]],
}

impl Attack<'_> {
    fn check(&self) {
        let rig = Rig::with(&[
            ("secrets/a.txt", CANARY),
            ("vendor/b.txt", CANARY),
            ("docs/c.txt", CANARY),
            ("src/d.txt", "plain\n"),
        ]);
        std::fs::hard_link(rig.project().join("secrets/a.txt"), rig.project().join("src/linked.txt"))
            .expect("linked");
        rig.configure(self.user);
        for (project, whose) in [("", "the user's file alone"), (self.project, "both files")] {
            rig.write("tectum.toml", project);
            for call in self.calls {
                self.refused(&rig, call, whose);
            }
        }
    }

    fn refused(&self, rig: &Rig, call: &[&str], whose: &str) {
        let full = rig.project().display().to_string();
        let words: Vec<String> = call.iter().map(|word| word.replace("$W", &full)).collect();
        let words: Vec<&str> = ["call"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let said = rig.run(&words);
        let out = String::from_utf8_lossy(&said.stdout);
        assert!(!out.contains(CANARY), "{whose}: {words:?} showed it: {out}");
        assert_ne!(said.status.code(), Some(0), "{whose}: {words:?} passed: {out}");
        assert_eq!(rig.read("vendor/b.txt"), CANARY, "{whose}: {words:?} changed it");
    }
}

const READS: &[&[&str]] = &[
    &["read_file", "path=$W/secrets/a.txt"],
    &["read_file", "path=secrets/a.txt"],
    &["read_file", "path=$W/secrets/../secrets/a.txt"],
    &["get_file_slice", "path=$W/secrets/a.txt", "start_line=1", "end_line=1"],
];

#[test]
fn a_moved_root_does_not_undo_protected_names() {
    let user = "[workspace]\ndeny = [\"secrets/**\"]\n";
    Attack { user, project: "[workspace]\nroots = [\"secrets\"]\n", calls: READS }.check();
    Attack { user, project: "[workspace]\nroots = [\"secrets\", \".\"]\n", calls: READS }.check();
}

#[test]
fn a_moved_root_does_not_undo_read_only() {
    Attack {
        user: "[workspace]\nread_only = [\"vendor/**\"]\n",
        project: "[workspace]\nroots = [\"vendor\"]\n",
        calls: &[
            &["write_file", "path=$W/vendor/b.txt", "content=x"],
            &["delete_file", "path=$W/vendor/b.txt"],
        ],
    }
    .check();
}

#[test]
fn a_moved_root_does_not_undo_deny_rules() {
    let user = "[permissions]\ndeny = [\"*(secrets/**)\"]\n";
    Attack { user, project: "[workspace]\nroots = [\"secrets\"]\n", calls: READS }.check();
}

#[test]
fn a_moved_root_does_not_undo_ask_rules() {
    let user = "[permissions]\nask = [\"*(secrets/**)\"]\n";
    Attack { user, project: "[workspace]\nroots = [\"secrets\"]\n", calls: READS }.check();
}

#[test]
fn wider_roots_do_not_undo_the_users_roots() {
    Attack {
        user: "[workspace]\nroots = [\"src\"]\n",
        project: "[workspace]\nroots = [\".\"]\n",
        calls: &[&["read_file", "path=$W/docs/c.txt"], &["read_file", "path=docs/c.txt"]],
    }
    .check();
}

#[test]
fn wider_include_does_not_undo_the_users_choice_of_tools() {
    Attack {
        user: "[tools]\ninclude = [\"read_file\"]\n",
        project: "[tools]\ninclude = [\"*\"]\n",
        calls: &[&["delete_file", "path=vendor/b.txt"], &["search_content", "pattern=canary"]],
    }
    .check();
}

#[test]
fn native_does_not_switch_on_what_the_user_switched_off() {
    let user = "[tools]\nnative = false\n";
    let calls: &[&[&str]] = &[&["read_file", "path=docs/c.txt"]];
    Attack { user, project: "[tools]\nnative = true\n", calls }.check();
    Attack { user, project: "[mcp]\nenabled = true\n", calls }.check();
}

#[test]
fn allow_rules_do_not_undo_the_users_default() {
    let calls: &[&[&str]] = &[&["read_file", "path=docs/c.txt"], &["delete_file", "path=vendor/b.txt"]];
    let project = "[permissions]\nallow = [\"*\"]\n";
    Attack { user: "[permissions]\ndefault = \"deny\"\n", project, calls }.check();
    Attack { user: "[permissions]\ndefault = \"ask\"\n", project, calls }.check();
}

#[test]
fn a_tracked_file_does_not_undo_protected_names_or_roots() {
    let user = "[workspace]\ndeny = [\"secrets/**\"]\n";
    let project = "[workspace]\nroots = [\"src\"]\ntracked = [\"secrets/a.txt\"]\n";
    Attack { user, project, calls: READS }.check();
    Attack {
        user: "[workspace]\nroots = [\"src\"]\n",
        project: "[workspace]\ntracked = [\"docs/c.txt\"]\n",
        calls: &[&["read_file", "path=$W/docs/c.txt"]],
    }
    .check();
}

#[test]
fn a_moved_root_does_not_hide_the_protected_name_of_a_hard_link() {
    Attack {
        user: "[workspace]\ndeny = [\"secrets/**\"]\n",
        project: "[workspace]\nroots = [\"src\"]\n",
        calls: &[&["read_file", "path=$W/src/linked.txt"]],
    }
    .check();
}
