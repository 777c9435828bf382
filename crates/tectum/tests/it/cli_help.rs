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
