//! `tectum completions`: what the scripts offer in the shells themselves, where these are installed.
#![allow(clippy::disallowed_methods, reason = "files and shells of the test itself")]

use std::os::unix::fs::PermissionsExt as _;

use crate::{cli_said::Said, rig::Rig};

/// Command lines up to the cursor, and the servers that are offered there; `None` where none are.
const LINES: &[(&[&str], Option<&[&str]>)] = &[
    (&["get", ""], Some(&["alpha", "beta-2"])),
    (&["get", "b"], Some(&["beta-2"])),
    (&["get", "alpha", ""], None),
    (&["remove", ""], Some(&["alpha", "beta-2"])),
    (&["enable", "a"], Some(&["alpha"])),
    (&["disable", "a"], Some(&["alpha"])),
    (&["restart", "a"], Some(&["alpha"])),
    (&["login", "a"], Some(&["alpha"])),
    (&["logout", "a"], Some(&["alpha"])),
    (&["trust", "beta-2", "a"], Some(&["alpha"])),
    (&["trust", "--revoke", "a"], Some(&["alpha"])),
    (&["approve-tools", "a"], Some(&["alpha"])),
    (&["observe", "test", "a"], Some(&["alpha"])),
    (&["observe", "mute", "a"], Some(&["alpha"])),
    (&["observe", "unmute", "a"], Some(&["alpha"])),
    (&["-C", "a folder, ü", "get", ""], Some(&["gamma"])),
    (&["get", "--dir", "a folder, ü", ""], Some(&["gamma"])),
    (&["-C", "broken", "get", ""], None),
    (&["policy", "test", ""], None),
    (&["add", ""], None),
];

fn rig() -> Rig {
    let servers = r#"{"mcpServers":{"alpha":{"command":"x"},"beta-2":{"command":"x"}}}"#;
    let other = r#"{"mcpServers":{"gamma":{"command":"x"}}}"#;
    Rig::with(&[(".mcp.json", servers), ("a folder, ü/.mcp.json", other), ("broken/tectum.toml", "broken =")])
}

/// The output of a shell with the program in its path; `None` where the shell is not installed.
fn shell(rig: &Rig, shell: &str, args: &[&str]) -> Option<Vec<String>> {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_tectum")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = rig.command(shell);
    command.env("PATH", format!("{}:{path}", folder.display())).args(args);
    let said = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => Said::from(output.expect("runs")),
    };
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{shell}: {}", said.out);
    Some(said.out.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

fn servers(offered: Vec<String>) -> Option<Vec<String>> {
    let known = |name: &String| ["alpha", "beta-2", "gamma"].contains(&name.as_str());
    let found: Vec<String> = offered.into_iter().filter(known).collect();
    (!found.is_empty()).then_some(found)
}

#[test]
fn bash_offers_the_names_of_servers() {
    let rig = rig();
    rig.write("script", Said::from(rig.run(&["completions", "bash"])).out);
    // What bash does when the key is pressed.
    let press = r#"source ./script
        complete -p tectum | grep -q -- "-F _tectum_servers" || exit 1
        COMP_WORDS=(tectum "$@"); COMP_CWORD=$#
        _tectum_servers tectum "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    for (words, expect) in LINES {
        let args: Vec<&str> = ["-c", press, "bash"].iter().chain(*words).copied().collect();
        let Some(offered) = shell(&rig, "bash", &args) else { return };
        let expect = expect.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(servers(offered), expect, "{words:?}");
    }
    // A project that brings a program of our name along does not have it run by a key.
    let strange = press.replace("_tectum_servers tectum", "_tectum_servers ./tectum");
    rig.write("tectum", "#!/bin/sh\necho ran > ran\n");
    let made = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(rig.project().join("tectum"), made).expect("set");
    let Some(offered) = shell(&rig, "bash", &["-c", &strange, "bash", "get", "a"]) else { return };
    assert_eq!(offered, ["alpha"]);
    assert!(!rig.project().join("ran").exists());
    let Some(offered) = shell(&rig, "bash", &["-c", press, "bash", "con"]) else { return };
    assert_eq!(offered, ["console", "config", "connect"], "the rest is offered as before");
}

#[test]
fn fish_offers_the_names_of_servers() {
    let rig = rig();
    rig.write("script", Said::from(rig.run(&["completions", "fish"])).out);
    for (words, expect) in LINES {
        let quoted = |word: &&str| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() };
        let line = format!("tectum {}", words.iter().map(quoted).collect::<Vec<_>>().join(" "));
        let press = "source ./script; complete -C \"$argv[1]\" | string replace -r '\\t.*' ''; true";
        let Some(offered) = shell(&rig, "fish", &["--no-config", "-c", press, &line]) else { return };
        let expect = expect.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(servers(offered), expect, "{words:?}");
    }
}

#[test]
fn zsh_reads_the_script_and_the_function_of_its_name_is_the_one_that_asks() {
    let rig = rig();
    let script = Said::from(rig.run(&["completions", "zsh"])).out;
    for once in ["\n_tectum() {\n", "\n_tectum_generated() {\n", "compdef _tectum tectum", " names -- "] {
        assert_eq!(script.matches(once).count(), 1, "{once}");
    }
    rig.write("script", script);
    let _ = shell(&rig, "zsh", &["-f", "-n", "script"]);
}
