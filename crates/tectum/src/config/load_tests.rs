//! Layers over layers: who wins, what adds up, and what every value remembers.

use std::{ffi::OsString, path::Path};

use tectum_core::security::{Durability, Links};
use tectum_engine::context::USUAL_BUDGET;
use tectum_turns::Limits;
use tempfile::TempDir;

use super::super::{AuthMode, Config, keys, servers::Survey, show};
use super::Sources;

struct Layers {
    scratch: TempDir,
    sources: Sources,
}

impl Layers {
    fn new(user: &str, project: &str, environment: &[(&str, &str)]) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let at = |name: &str| scratch.path().join(name);
        std::fs::create_dir(at("project")).expect("made");
        put(&at("user.toml"), user);
        put(&at("project/tectum.toml"), project);
        let sources = Sources {
            directory: at("project"),
            home: Some(at("home")),
            user_file: Some(at("user.toml")),
            environment: environment.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))).collect(),
            ..Sources::default()
        };
        Self { scratch, sources }
    }

    fn load(&self) -> Config {
        self.sources.load().unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn problems(&self) -> String {
        self.sources.load().map(|config| config.directory).expect_err("refused").to_string()
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of the test itself")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
}

#[expect(clippy::disallowed_methods, reason = "a file of the test itself")]
fn take_away(path: &Path) {
    std::fs::remove_file(path).expect("removed");
}

fn origin(config: &Config, key: &keys::Key) -> String {
    config.merged().get(key).expect("set").origin.to_string()
}

#[test]
fn nothing_at_all_is_a_safe_set_up() {
    let layers = Layers::new("", "", &[]);
    let config = layers.load();
    assert_eq!(config.workspace.roots, std::slice::from_ref(&config.directory));
    assert_eq!(config.http.auth, AuthMode::Token);
    assert!(config.http.listen.ip().is_loopback() && !config.http.allow_remote);
    assert!(
        config.tools.native
            && config.permissions.own.allow.is_empty()
            && config.permissions.own.default.is_none()
            && config.permissions.project.is_none()
    );
    assert_eq!(config.workspace.symlinks, Links::Inside);
    assert_eq!(config.files.durability, Durability::Full);
    assert_eq!((config.run.limits.clone(), config.run.context), (Limits::default(), USUAL_BUDGET));
    assert_eq!(Config::built_in(&config.directory).expect("loads").workspace.roots, config.workspace.roots);
}

#[test]
fn later_layers_win() {
    let user = "[files]\ndurability = \"rename\"\nmax_file = \"1M\"\n[log]\nlevel = \"debug\"\n";
    let project = "[files]\nmax_file = \"512k\"\n[log]\nlevel = \"error\"\n";
    let mut layers =
        Layers::new(user, project, &[("TECTUM_LOG_LEVEL", "trace"), ("TECTUM_HTTP_AUTH", "none")]);
    let config = layers.load();
    assert_eq!(config.files.durability, Durability::Rename);
    assert!(origin(&config, &keys::DURABILITY).ends_with("user.toml:2"));
    assert_eq!(
        (config.files.max_file, origin(&config, &keys::MAX_FILE).as_str()),
        (512 << 10, "tectum.toml:2")
    );
    assert_eq!(origin(&config, &keys::LEVEL), "env TECTUM_LOG_LEVEL");
    assert_eq!(config.http.auth, AuthMode::None);

    layers.sources.flags = vec![(&keys::LEVEL, "info".into(), "-v".into())];
    assert_eq!(origin(&layers.load(), &keys::LEVEL), "flag -v");
}

#[test]
fn rules_and_protections_of_all_layers_add_up() {
    let user = "[permissions]\ndeny = [\"shell\"]\n[workspace]\ndeny = [\"a\"]\n";
    let project = "[permissions]\n\ndeny = [\n  \"x\",\n  \"y(z)\",\n]\n[workspace]\ndeny = [\"b\"]\n[mcp]\nblacklist = [\"c\"]\n";
    let config = Layers::new(user, project, &[("TECTUM_PERMISSIONS_DENY", "v,w")]).load();
    let items = config.merged().list(&keys::FORBID);
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, ["shell", "v", "w", "x", "y(z)"]);
    let places: Vec<String> = items.iter().skip(1).map(|item| item.origin.to_string()).collect();
    let env = "env TECTUM_PERMISSIONS_DENY";
    assert_eq!(places, [env, env, "tectum.toml:4", "tectum.toml:5"]);
    let mut denied = config.workspace.deny.clone();
    denied.sort();
    assert_eq!(denied, ["a", "b", "c"]);
    let project = config.permissions.project.expect("it has rules");
    assert_eq!(project.deny[1].to_string(), "`y(z)` (tectum.toml:5)");
    assert_eq!(config.permissions.own.deny[1].to_string(), "`v` (env TECTUM_PERMISSIONS_DENY)");
}

#[test]
fn earlier_names_are_understood() {
    let project = "[mcp]\nenabled = false\nblacklist = [\"*.sqlite\"]\nallow_symlinks = false\n";
    let config = Layers::new("", project, &[]).load();
    assert!(!config.tools.native);
    assert_eq!(config.workspace.deny, ["*.sqlite"]);
    assert_eq!(config.workspace.symlinks, Links::Never);
    assert_eq!(origin(&config, &keys::SYMLINKS), "tectum.toml:4");
}

#[test]
fn relative_roots_start_at_the_projects_file_and_at_the_directory_for_the_users() {
    let config = Layers::new("", "[workspace]\nroots = [\"src\", \".\"]\n", &[]).load();
    assert_eq!(config.workspace.roots, [config.directory.join("src"), config.directory.clone()]);
    let config = Layers::new("[workspace]\nroots = [\"src\", \"..\"]\n", "", &[]).load();
    assert_eq!(config.workspace.roots, [config.directory.join("src"), config.directory.join("..")]);
}

#[test]
fn a_named_file_replaces_the_projects_and_is_trusted() {
    let mut layers = Layers::new("", "[files]\nmax_file = \"2M\"\n", &[]);
    let named = layers.scratch.path().join("named.toml");
    put(&named, "[http]\nauth = \"none\"\n[workspace]\nroots = [\"project\"]\n");
    layers.sources.file = Some(named);
    let config = layers.load();
    assert_eq!(config.http.auth, AuthMode::None);
    assert_eq!(config.files.max_file, 64 << 20);
    assert_eq!(config.workspace.roots, [layers.scratch.path().join("project")]);

    layers.sources.file = Some("/nowhere.toml".into());
    let hint = "(correct the path; a relative path starts at the current directory)";
    assert_eq!(layers.problems(), format!("flag --config: there is no file /nowhere.toml {hint}"));
}

#[test]
fn mistakes_of_all_layers_are_told_together() {
    let told =
        Layers::new("[file]\n", "[files]\nmax_fil = 1\n", &[("TECTUM_WORKSPACE_DENI", "1")]).problems();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].contains("user.toml:1:2: unknown key `file`"), "{told}");
    assert!(lines[1].starts_with("tectum.toml:2:1: unknown key in [files]: `max_fil`"), "{told}");
    assert!(lines[2].starts_with("env TECTUM_WORKSPACE_DENI: unknown setting"), "{told}");
}

#[test]
fn a_file_that_cannot_be_read_is_never_taken_for_none() {
    let layers = Layers::new("", "", &[]);
    let file = layers.scratch.path().join("project/tectum.toml");
    take_away(&file);
    std::os::unix::fs::symlink("gone", &file).expect("made");
    assert!(layers.problems().starts_with("tectum.toml:1:1: cannot read it"), "{}", layers.problems());
    take_away(&file);
    std::fs::create_dir(&file).expect("made");
    assert!(layers.problems().contains("it is not a file"), "{}", layers.problems());
}

#[test]
fn a_home_that_is_no_directory_has_no_file() {
    let mut layers = Layers::new("", "", &[]);
    layers.sources.user_file = Some("/dev/null/tectum/tectum.toml".into());
    layers.load();
}

#[test]
fn a_directory_that_is_none_is_an_error() {
    let mut layers = Layers::new("", "", &[]);
    layers.sources.directory = layers.scratch.path().join("gone");
    assert!(layers.problems().starts_with("flag --dir: cannot serve"));
    layers.sources.directory = layers.scratch.path().join("user.toml");
    assert!(layers.problems().contains("is not a directory"));
}

#[test]
fn what_show_prints_reads_back_to_the_same() {
    let user = "[permissions]\nask = [\"shell\"]\n[http]\nhosts = [\"box.local\"]\n";
    let project = "[workspace]\nroots = [\".\", \"src\"]\ndeny = ['we\"ird[*]', \"b\"]\n[tools]\nmax_output = \"50k\"\n";
    let mut layers = Layers::new(user, project, &[("TECTUM_TOOLS_THREADS", "3")]);
    let first = layers.load();
    let printed = show::toml(&first, &Survey::read(&layers.sources, &first));
    let again = layers.scratch.path().join("again.toml");
    put(&again, &printed);
    layers.sources =
        Sources { directory: layers.sources.directory.clone(), file: Some(again), ..Sources::default() };
    let second = layers.load();
    for key in keys::KEYS {
        let value = |config: &Config| config.merged().get(key).map(|setting| show_value(&setting.value));
        assert_eq!(value(&first), value(&second), "{}\n{printed}", key.path());
    }
}

fn show_value(value: &super::super::value::Value) -> String {
    match value {
        super::super::value::Value::List(items) => {
            items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join("\n")
        }
        other => format!("{other:?}"),
    }
}
