//! The help of every command, as people read it.

use crate::rig::Rig;

fn help(words: &[&str]) -> String {
    let output = Rig::new().run(&[words, &["--help"]].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn of_tectum() {
    insta::assert_snapshot!(help(&[]));
}

#[test]
fn of_up() {
    insta::assert_snapshot!(help(&["up"]));
}

#[test]
fn of_connect() {
    insta::assert_snapshot!(help(&["connect"]));
}

#[test]
fn of_serve() {
    insta::assert_snapshot!(help(&["serve"]));
}

#[test]
fn of_tools() {
    insta::assert_snapshot!(help(&["tools"]));
}

#[test]
fn of_call() {
    insta::assert_snapshot!(help(&["call"]));
}

#[test]
fn of_run() {
    insta::assert_snapshot!(help(&["run"]));
}

#[test]
fn of_policy() {
    insta::assert_snapshot!(help(&["policy"]));
}

#[test]
fn of_policy_test() {
    insta::assert_snapshot!(help(&["policy", "test"]));
}

#[test]
fn of_config() {
    insta::assert_snapshot!(help(&["config"]));
}

#[test]
fn of_config_show() {
    insta::assert_snapshot!(help(&["config", "show"]));
}

#[test]
fn of_config_check() {
    insta::assert_snapshot!(help(&["config", "check"]));
}

#[test]
fn of_config_schema() {
    insta::assert_snapshot!(help(&["config", "schema"]));
}

#[test]
fn of_completions() {
    insta::assert_snapshot!(help(&["completions"]));
}

#[test]
fn of_version() {
    insta::assert_snapshot!(help(&["version"]));
}

#[test]
fn of_add() {
    insta::assert_snapshot!(help(&["add"]));
}

#[test]
fn of_remove() {
    insta::assert_snapshot!(help(&["remove"]));
}

#[test]
fn of_enable() {
    insta::assert_snapshot!(help(&["enable"]));
}

#[test]
fn of_disable() {
    insta::assert_snapshot!(help(&["disable"]));
}

#[test]
fn of_list() {
    insta::assert_snapshot!(help(&["list"]));
}

#[test]
fn of_get() {
    insta::assert_snapshot!(help(&["get"]));
}

#[test]
fn of_import() {
    insta::assert_snapshot!(help(&["import"]));
}

#[test]
fn of_restart() {
    insta::assert_snapshot!(help(&["restart"]));
}

#[test]
fn of_trust() {
    insta::assert_snapshot!(help(&["trust"]));
}

#[test]
fn of_input() {
    insta::assert_snapshot!(help(&["input"]));
}
