//! The names that are closed without any configuration, what a refusal says, and the one line that
//! opens a name.

use serde_json::json;

use crate::{
    cli_said::Said,
    rig::{Rig, text},
};

const SECRETS: &[&str] = &[
    ".env",
    "id_rsa",
    "keys/id_ed25519",
    "tls/key.p12",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".aws/credentials",
    "credentials.json",
    "secrets.yml",
    "terraform.tfstate",
    ".cargo/config.toml",
    ".env.example",
];

#[test]
fn files_that_hold_secrets_are_closed_and_the_refusal_names_the_rule() {
    let rig = Rig::new();
    for path in SECRETS {
        rig.write(path, "hunter2\n");
    }
    rig.write("id_rsa.pub", "ssh-rsa AAAA\n");
    let mut client = rig.stdio();
    for path in SECRETS {
        let result = client.call("read_file", json!({"path": path}));
        let said = text(&result);
        assert_eq!(result["isError"], true, "{path}: {said}");
        assert!(said.starts_with(&format!("ERROR: `{path}` is protected (built-in rule `")), "{said}");
        assert!(!said.contains("allowlist") && !said.contains("base directories"), "{said}");
    }
    let found = client.call("search_content", json!({"path": ".", "pattern": "hunter2"}));
    assert!(!found.to_string().contains("secrets.yml"), "{found}");
    assert_eq!(client.call("read_file", json!({"path": "id_rsa.pub"}))["isError"], false);
}

#[test]
fn one_line_of_the_user_opens_a_name_and_a_project_opens_none() {
    let rig =
        Rig::with(&[(".env.example", "KEY=\n"), (".cargo/config.toml", "[build]\n"), (".env", "KEY=1\n")]);
    let said = |path: &str| Said::from(rig.run(&["call", "read_file", &format!("path={path}")]));
    let refused = said(".cargo/config.toml");
    let line = "open = [\"config.toml\"]";
    assert!(refused.err.contains(line), "the hint is the line to write: {}", refused.err);
    rig.configure("[workspace]\nopen = [\"config.toml\", \".env.example\"]\n");
    assert_eq!((said(".cargo/config.toml").code, said(".env.example").code), (0, 0));
    assert_eq!(said(".env").code, 3, "nothing beside it is open");
    rig.configure("[workspace]\nopen = [\".env*\"]\ndeny = [\".env\"]\n");
    assert_eq!((said(".env.example").code, said(".env").code), (0, 3), "the user's own deny beats open");
    rig.configure("");
    rig.write("tectum.toml", "[workspace]\nopen = [\".env\"]\n");
    let wrong = Said::from(rig.run(&["config", "check"]));
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("a repository must not open protected names"), "{}", wrong.err);
}

#[test]
fn other_refusals_of_a_path_say_what_is_wrong_with_it() {
    let rig = Rig::with(&[("README.md", "x\n")]);
    let said = |path: &str| Said::from(rig.run(&["call", "read_file", &format!("path={path}")])).err;
    assert!(said("readme.md").contains("did you mean `README.md`?"), "{}", said("readme.md"));
    let url = said("file:///etc/hosts");
    assert!(url.contains("it is a URL, not a path") && url.contains("without `file://`"), "{url}");
}
