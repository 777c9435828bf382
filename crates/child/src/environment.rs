//! What a child finds in its environment, and which program its command means. Nothing is
//! inherited that is not on the list, and nothing relative is searched.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use crate::{
    Installed, Launch, NotInstalled,
    installed::may_run,
    lineage::{self, WITHIN},
};

/// Every process of one start carries this variable, with a word that no other start has.
pub(super) const MARK: &str = "TECTUM_GUARDED";

/// Where programs are searched if Tectum itself was started without a `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Who and where the user is, and how the network is reached. Nothing that could be a secret of
/// another program, and nothing of ours.
const INHERITED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    "TMPDIR",
    "PATH",
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_registry",
];
/// Families of the same kind; the last three tell package runners where their registries are.
const INHERITED_PREFIXES: &[&str] = &["LC_", "XDG_", "NPM_CONFIG_", "PIP_", "UV_"];

/// The whole environment of a child: the few inherited variables, its own, and ours last.
pub(super) fn environment(
    launch: &Launch,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    served: &Path,
    mark: &str,
) -> io::Result<BTreeMap<OsString, OsString>> {
    let (within, inherited): (Vec<_>, Vec<_>) = inherited.into_iter().partition(|(name, _)| name == WITHIN);
    let mut variables: BTreeMap<OsString, OsString> =
        inherited.into_iter().filter(|(name, _)| is_inherited(name)).collect();
    for (name, value) in &launch.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(invalid(format!(
                "`{}` cannot be a variable's name: write a name without `=` in `env`",
                name.escape_debug()
            )));
        }
        if value.reveal().contains('\0') {
            return Err(invalid(format!("the value of `{name}` in `env` has a zero byte: remove it")));
        }
        variables.insert(name.into(), value.reveal().into());
    }
    let path = variables.get(OsStr::new("PATH")).map_or(OsStr::new(USUAL_PATH), OsString::as_os_str);
    // A search path that the command itself brings was written for it on purpose.
    let path =
        if launch.env.contains_key("PATH") { absolute_entries(path) } else { apart_from(path, served) };
    variables.insert("PATH".into(), path);
    variables.insert(MARK.into(), mark.into());
    let within = within.first().map(|(_, value)| value.as_os_str());
    variables.insert(WITHIN.into(), lineage::extended(launch, within).into());
    variables.insert("EFFERENT_COPY_DISABLE".into(), "1".into());
    Ok(variables)
}

pub(super) fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A search path without empty and relative entries: either would mean the directory the child
/// starts in, which is the workspace.
fn absolute_entries(path: &OsStr) -> OsString {
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    // Joining fails only for an entry with a separator in it, and these were just split at it.
    std::env::join_paths(entries).unwrap_or_default()
}

/// The same without entries in the served directory, whose programs are the project's own.
fn apart_from(path: &OsStr, served: &Path) -> OsString {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let served = real(served);
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    // A program that is started in the root of the file system is in no project.
    let entries = entries.filter(|entry| served == Path::new("/") || !real(entry).starts_with(&served));
    std::env::join_paths(entries).unwrap_or_default()
}

/// The file that a command means: a name is searched in the child's `PATH`, a path is taken from
/// the directory it starts in.
pub(super) fn program(command: &str, path: &OsStr, directory: &Path) -> io::Result<PathBuf> {
    if command.is_empty() || command.contains('\0') {
        return Err(invalid("the command is empty or has a zero byte: write a program's name".to_owned()));
    }
    if command.contains('/') {
        let file = directory.join(command);
        return match () {
            () if may_run(&file) => Ok(file),
            () if file.is_file() => Err(not_executable(&file)),
            () if file.is_dir() => Err(missing(format!("`{command}` is a directory: name a program in it"))),
            () => Err(missing(format!(
                "there is no program at {}: install it, or correct its path",
                file.display()
            ))),
        };
    }
    let candidates = || std::env::split_paths(path).map(|entry| entry.join(command));
    if let Some(found) = candidates().find(|file| may_run(file)) {
        return Ok(found);
    }
    match candidates().find(|file| file.is_file()) {
        Some(file) => Err(not_executable(&file)),
        // Where it was searched is nobody's business but the user's, and this may reach a model.
        None => Err(missing(format!(
            "there is no program `{command}` in PATH: install it, or write its full path"
        ))),
    }
}

/// Says of a program that was not found whether the project's own was passed over.
pub(super) fn explained(error: io::Error, command: &str, served: &Path) -> io::Error {
    let named = error.kind() == io::ErrorKind::NotFound && !command.contains('/');
    match Installed::apart_from(&[served.to_owned()]).find(command) {
        Err(missing @ NotInstalled::OfProject(_)) if named => self::missing(missing.describe(command)),
        _ => error,
    }
}

fn not_executable(file: &Path) -> io::Error {
    let text = format!("{} may not be executed: make it executable with `chmod +x`", file.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

fn missing(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, text)
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::Secret;

    fn launch(env: &[(&str, &str)]) -> Launch {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        Launch { command: "x".into(), args: vec![], env, cwd: None }
    }

    fn made(inherited: &[(&str, &str)], own: &[(&str, &str)]) -> BTreeMap<String, String> {
        let inherited = inherited.iter().map(|(name, value)| (name.into(), value.into()));
        let made = environment(&launch(own), inherited, Path::new("/srv/project"), "word").expect("made");
        made.into_iter().map(|(n, v)| (n.into_string().unwrap(), v.into_string().unwrap())).collect()
    }

    #[test]
    fn only_what_is_on_the_list_is_inherited() {
        let inherited = [
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("UV_INDEX_URL", "u"),
            ("TECTUM_TOKEN", "secret"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("LD_PRELOAD", "/evil.so"),
            ("XDGX", "no"),
            ("PATH", "/bin"),
        ];
        let names: Vec<String> = made(&inherited, &[]).into_keys().collect();
        assert_eq!(
            names,
            [
                "EFFERENT_COPY_DISABLE",
                "HOME",
                "LC_ALL",
                "PATH",
                "TECTUM_GUARDED",
                "TECTUM_WITHIN",
                "UV_INDEX_URL"
            ]
        );
    }

    #[test]
    fn its_own_variables_win_and_ours_win_over_them() {
        let own =
            [("HOME", "/srv"), ("API_KEY", "k"), ("EFFERENT_COPY_DISABLE", "0"), ("TECTUM_GUARDED", "x")];
        let made = made(&[("HOME", "/home/me")], &own);
        assert_eq!(made["HOME"], "/srv");
        assert_eq!(made["API_KEY"], "k");
        assert_eq!(made["EFFERENT_COPY_DISABLE"], "1");
        assert_eq!(made["TECTUM_GUARDED"], "word");
        let own = [("TECTUM_WITHIN", "")];
        let deeper = self::made(&[("TECTUM_WITHIN", &made["TECTUM_WITHIN"])], &own);
        assert!(deeper["TECTUM_WITHIN"].starts_with(&format!("{};", made["TECTUM_WITHIN"])), "{deeper:?}");
    }

    #[test]
    fn the_search_path_has_no_relative_entry() {
        for (given, expect) in [
            ("/usr/bin::.:bin:/bin:", "/usr/bin:/bin"),
            ("", ""),
            (".", ""),
            ("/a b:../c:/usr/bin", "/a b:/usr/bin"),
        ] {
            assert_eq!(made(&[("PATH", given)], &[])["PATH"], expect, "{given}");
            assert_eq!(made(&[("PATH", "/x")], &[("PATH", given)])["PATH"], expect, "{given}");
        }
        assert_eq!(made(&[], &[])["PATH"], USUAL_PATH);
        // Nor one of the project, unless the command itself brings it.
        let own = "/srv/project/bin:/srv/projects/bin:/bin";
        assert_eq!(made(&[("PATH", own)], &[])["PATH"], "/srv/projects/bin:/bin");
        assert_eq!(made(&[("PATH", "/x")], &[("PATH", own)])["PATH"], own);
    }

    #[test]
    fn names_that_cannot_be_set_are_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
            assert!(environment(&launch(&[(name, value)]), [], Path::new("/"), "word").is_err(), "{name:?}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the programs that are searched")]
    fn programs_are_searched_as_said() {
        let scratch = tempfile::tempdir().expect("a directory");
        let bin = scratch.path().join("bin");
        std::fs::create_dir_all(bin.join("folder")).expect("made");
        for (name, mode) in [("good", 0o755), ("plain", 0o644)] {
            std::fs::write(bin.join(name), "#!/bin/sh\n").expect("written");
            std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(mode)).expect("set");
        }
        let find = |command: &str| program(command, bin.as_os_str(), scratch.path());
        assert_eq!(find("good").expect("found"), bin.join("good"));
        assert_eq!(find("./bin/good").expect("found"), scratch.path().join("./bin/good"));
        let said = |command: &str| find(command).expect_err("refused").to_string();
        assert_eq!(said("npx"), "there is no program `npx` in PATH: install it, or write its full path");
        assert!(said("plain").contains("chmod +x"));
        assert!(said("./bin/plain").contains("chmod +x"));
        assert!(said("./bin/folder").contains("is a directory"));
        assert!(said("folder").starts_with("there is no program `folder` in PATH"));
        assert!(said("./none").starts_with("there is no program at "));
        assert!(said("").contains("empty"));
    }
}
