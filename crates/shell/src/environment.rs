//! What a command finds in its environment beside the few variables that every child gets: no pager,
//! editor or prompt waits for a person, text is UTF-8, and what `mcp_env.toml` sets is added as far
//! as it cannot change what other programs load.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tectum_child::Secret;

/// Set for every command.
const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("PYTHONUTF8", "1"),
    ("PYTHONIOENCODING", "utf-8"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GH_PROMPT_DISABLED", "1"),
    ("PIP_NO_INPUT", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("NO_COLOR", "1"),
];

/// Names that decide what other programs load, run or believe: never taken from a file. Beside them,
/// those that [`FIXED`] sets and those of our own.
const REFUSED: &[&str] = &[
    "PATH",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "PROMPT_COMMAND",
    "SHELL",
    "HOME",
    "TMPDIR",
    "TERM",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONBREAKPOINT",
    "PYTHONINSPECT",
    "PERL5OPT",
    "PERL5LIB",
    "PERLLIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "RUSTFLAGS",
    "MAKEFLAGS",
    "CC",
    "CXX",
    "LD",
    "GOFLAGS",
    "PSMODULEPATH",
    "LESSOPEN",
    "LESSCLOSE",
    "BROWSER",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SUDO_ASKPASS",
    "OPENSSL_CONF",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    "EFFERENT_COPY_DISABLE",
];
/// Families of the same kind.
const REFUSED_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "SSH_",
    "BASH_",
    "TECTUM_",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "CARGO_",
    "LUA_",
    "XDG_",
];
/// More is no list that a person wrote.
const MOST_ENTRIES: usize = 256;

/// What `mcp_env.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvFile {
    /// Directories searched before all others, in this order.
    pub prepend: Vec<PathBuf>,
    /// Variables, with `${NAME}` in their values as written.
    pub env: BTreeMap<String, String>,
    /// What it says that is not used, each as a sentence.
    pub refused: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    path: WrittenPath,
    env: BTreeMap<String, toml::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenPath {
    prepend: Vec<String>,
}

impl EnvFile {
    /// Reads the text of a file that lies in this directory. What is not used is told, the rest holds.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut file = Self::default();
        if written.path.prepend.len() + written.env.len() > MOST_ENTRIES {
            return Err(format!("it has more than {MOST_ENTRIES} entries"));
        }
        for entry in written.path.prepend {
            let path = PathBuf::from(&entry);
            match () {
                () if entry.is_empty() || entry.contains([':', '\0']) => {
                    file.refused.push(format!("path.prepend `{entry}` cannot stand in PATH"));
                }
                () if path.is_absolute() => file.prepend.push(path),
                // From where the file lies, not from wherever a command starts.
                () => file.prepend.push(directory.join(path)),
            }
        }
        for (name, value) in written.env {
            let value = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
                    value.to_string()
                }
                _ => {
                    file.refused.push(format!("env.{name} is no text"));
                    continue;
                }
            };
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                file.refused.push(format!("env.{name} cannot be set"));
            } else if is_refused(&name) {
                file.refused.push(format!("env.{name} decides what other programs load or believe"));
            } else {
                file.env.insert(name, value);
            }
        }
        Ok(file)
    }

    /// The variables it sets, where these are known. Values are filled in once: what stands in a
    /// value that was filled in stays as it is, and an unknown name is nothing.
    fn variables<'s>(
        &'s self,
        known: &'s dyn Fn(&str) -> Option<String>,
    ) -> impl Iterator<Item = (String, Secret)> + 's {
        self.env.iter().map(move |(name, value)| (name.clone(), Secret::new(expanded(value, known))))
    }
}

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    REFUSED.contains(&&*name)
        || FIXED.iter().any(|(fixed, _)| *fixed == name)
        || REFUSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn expanded(value: &str, known: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        text.push_str(before);
        text.push_str(&known(name).unwrap_or_default());
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// The variables of a command beside those every child gets: `path` is the search path without the
/// project's own directories, `known` what `${NAME}` may mean.
pub fn variables(
    file: &EnvFile,
    path: &str,
    terminal: bool,
    known: &dyn Fn(&str) -> Option<String>,
) -> BTreeMap<String, Secret> {
    let mut variables: BTreeMap<String, Secret> = file.variables(known).collect();
    variables.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))));
    variables.insert("TERM".into(), Secret::new(if terminal { "xterm-256color" } else { "dumb" }));
    let prepended = file.prepend.iter().filter_map(|entry| entry.to_str());
    let path: Vec<&str> = prepended.chain((!path.is_empty()).then_some(path)).collect();
    variables.insert("PATH".into(), Secret::new(path.join(":")));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/me".into()),
            "ODD" => Some("${HOME}".into()),
            _ => None,
        }
    }

    fn made(text: &str) -> (BTreeMap<String, String>, Vec<String>) {
        let file = EnvFile::parse(text, Path::new("/srv/project")).expect("reads");
        let made = variables(&file, "/usr/bin:/bin", false, &known);
        let made = made.into_iter().map(|(name, value)| (name, value.reveal().to_owned())).collect();
        (made, file.refused)
    }

    #[test]
    fn the_file_prepends_and_sets_with_one_pass_of_expansion() {
        let (made, refused) = made(
            "[path]\nprepend = [\"/opt/a\", \"tools/bin\"]\n[env]\nMY_VAR = \"some_value\"\n\
             EXPANDED = \"${HOME}/sub${NONE}dir\"\nONCE = \"${ODD}\"\nOPEN = \"${HOME\"\nN = 3\n",
        );
        assert_eq!(made["PATH"], "/opt/a:/srv/project/tools/bin:/usr/bin:/bin");
        assert_eq!(made["MY_VAR"], "some_value");
        assert_eq!(made["EXPANDED"], "/home/me/subdir");
        assert_eq!(made["ONCE"], "${HOME}");
        assert_eq!(made["OPEN"], "${HOME");
        assert_eq!(made["N"], "3");
        assert!(refused.is_empty(), "{refused:?}");
    }

    #[test]
    fn nothing_is_smuggled_in_and_nothing_waits_for_a_person() {
        let names = [
            "LD_PRELOAD",
            "ld_preload",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "GIT_SSH_COMMAND",
            "GIT_PAGER",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "BASH_ENV",
            "ENV",
            "PATH",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "LC_ALL",
            "PAGER",
            "EDITOR",
            "TECTUM_TOKEN",
            "TECTUM_GUARDED",
            "IFS",
            "CARGO_HOME",
            "RUSTC_WRAPPER",
            "BASH_FUNC_ls%%",
        ];
        let text: String = names.iter().map(|name| format!("\"{name}\" = \"evil\"\n")).collect();
        let (made, refused) = made(&format!("[env]\n{text}\"A=B\" = \"x\"\nLIST = []\n"));
        assert_eq!(refused.len(), names.len() + 2, "{refused:?}");
        assert!(!made.values().any(|value| value == "evil"));
        assert_eq!((made["PAGER"].as_str(), made["GIT_TERMINAL_PROMPT"].as_str()), ("cat", "0"));
        assert_eq!((made["LC_ALL"].as_str(), made["TERM"].as_str()), ("C.UTF-8", "dumb"));
    }

    #[test]
    fn what_cannot_stand_in_a_path_is_refused() {
        let file =
            EnvFile::parse("[path]\nprepend = [\"\", \"/a:/b\", \"/c\"]", Path::new("/p")).expect("reads");
        assert_eq!((file.prepend, file.refused.len()), (vec![PathBuf::from("/c")], 2));
        assert!(EnvFile::parse("[path]\nprepend = 3", Path::new("/p")).is_err());
    }
}
