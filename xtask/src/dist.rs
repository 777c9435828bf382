//! `cargo xtask dist`: builds the shipped binary. It is built once, run under valgrind to see which
//! functions a start and a few calls use, and linked again with those side by side.
//!
//! The kernel maps a program's code in pieces of 64 KiB. Scattered over the whole binary, the
//! functions of a start occupy about ten megabytes of memory; together they occupy two.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::{step, system};

/// True if lld, the compiler's own linker here, can take the order.
const CAN_ORDER: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// The messages of a client at its start, and the calls that agents make most.
const SESSION: &[(&str, &str)] = &[
    (
        "initialize",
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"xtask","version":"1"}}"#,
    ),
    ("tools/list", "{}"),
    ("tools/call", r#"{"name":"list_directory","arguments":{"path":"."}}"#),
    ("tools/call", r#"{"name":"read_file","arguments":{"path":"notes.py"}}"#),
    (
        "tools/call",
        r#"{"name":"edit_file","arguments":{"path":"notes.py","old_string":"one","new_string":"two"}}"#,
    ),
    ("tools/call", r#"{"name":"search_content","arguments":{"pattern":"two"}}"#),
    ("tools/call", r#"{"name":"code_outline","arguments":{"path":"notes.py"}}"#),
];

/// Builds it with an order made for the current source.
pub fn run(checkout: &Checkout) -> Result<()> {
    if CAN_ORDER {
        system::ensure(&[system::VALGRIND])?;
        step::run(rustc(checkout).args(["-C", "strip=none"]))?;
        let order = functions_of_a_session(&binary(checkout))?;
        fs::write(order_file(checkout), order).context("the order of functions could not be kept")?;
    }
    build(checkout)?;
    println!("{}", binary(checkout).display());
    Ok(())
}

/// Builds it with the existing order, and returns its path. An order of an older source still holds
/// for what has not changed since.
pub fn build(checkout: &Checkout) -> Result<PathBuf> {
    let order = order_file(checkout);
    let mut build = rustc(checkout);
    if CAN_ORDER && order.is_file() {
        build.arg(format!("-Clink-arg=-Wl,--symbol-ordering-file={}", order.display()));
        build.arg("-Clink-arg=-Wl,--no-warn-symbol-ordering");
    }
    step::run(&mut build)?;
    let binary = binary(checkout);
    ensure!(
        binary.is_file(),
        "The build left no {}. Unset CARGO_BUILD_TARGET: a cross build puts its binary elsewhere.",
        binary.display()
    );
    Ok(binary)
}

/// True if an order of functions exists for [`build`].
pub fn has_order(checkout: &Checkout) -> bool {
    !CAN_ORDER || order_file(checkout).is_file()
}

fn rustc(checkout: &Checkout) -> Command {
    let mut command = step::cargo(checkout);
    command.args(["rustc", "--profile", "dist", "-p", "tectum", "--bin", "tectum", "--"]);
    command
}

fn binary(checkout: &Checkout) -> PathBuf {
    checkout.target.join("dist").join(format!("tectum{}", std::env::consts::EXE_SUFFIX))
}

fn order_file(checkout: &Checkout) -> PathBuf {
    checkout.target.join("dist").join("tectum.order")
}

/// The names of all functions that a session uses, one a line.
fn functions_of_a_session(binary: &Path) -> Result<String> {
    let folder = binary.with_extension("session");
    let profile = folder.join("profile");
    let project = folder.join("project");
    fs::create_dir_all(&project)?;
    fs::write(project.join("notes.py"), "def one():\n    return 1\n")?;

    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
    valgrind.arg(binary).arg("serve").current_dir(&project);
    // A state of its own, so that no setting of this user affects what is used.
    valgrind.env("XDG_STATE_HOME", &folder).env("XDG_CONFIG_HOME", &folder);
    eprintln!("$ valgrind --tool=callgrind tectum serve");
    let mut server = valgrind.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = server.stdin.take().context("no pipe")?;
    let mut answers = BufReader::new(server.stdout.take().context("no pipe")?).lines();
    for (id, (method, params)) in SESSION.iter().enumerate() {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)?;
        let answered = format!(r#""id":{id}"#);
        let answer = answers.by_ref().find(|line| !line.as_ref().is_ok_and(|line| !line.contains(&answered)));
        let answer = answer.context("the server left before it answered")??;
        ensure!(!answer.contains(r#""isError":true"#), "{method} {params} failed: {answer}");
    }
    drop(input);
    ensure!(server.wait()?.success(), "the server did not end well");

    let profile = fs::read_to_string(profile).context("valgrind left no profile")?;
    fs::remove_dir_all(folder)?;
    Ok(names(&profile))
}

/// The function names in a profile: `fn=(12) name` at the first mention of one.
fn names(profile: &str) -> String {
    let mut known = HashSet::new();
    let mut names = String::new();
    for line in profile.lines() {
        let Some(function) = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")) else { continue };
        let Some((_, name)) = function.split_once(") ") else { continue };
        // A recursive call has its own name there.
        let name = name.split('\'').next().unwrap_or(name);
        if !name.starts_with("0x") && known.insert(name) {
            names.push_str(name);
            names.push('\n');
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_is_named_once() {
        let profile = "fn=(1) main\n16 3\ncfn=(2) _ZN4open17h0E\ncalls=1 0\nfn=(2)\nfn=(3) _ZN4open17h0E'2\nfn=(4) 0x1050\n";
        assert_eq!(names(profile), "main\n_ZN4open17h0E\n");
    }
}
