//! The names that are protected without any configuration, and how a person opens one of them.
//!
//! A name is here because people keep secrets in files of that name. Names that source code uses, too,
//! are not.

use std::{ffi::OsStr, path::Path};

use crate::DenyList;

/// Conversation history, configuration and credentials of the host.
pub const ALWAYS: &[&str] = &["history.toml", "*_history.toml", "config.toml", "credentials.toml"];
/// Files in which passwords, keys and tokens are kept.
pub const SECRETS: &[&str] = &[
    ".env*",
    // Keys and certificates.
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".ssh",
    ".gnupg",
    // Logins of tools.
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".terraformrc",
    "**/.docker/config.json",
    "**/.kube/config",
    "**/.cargo/credentials",
    "**/gh/hosts.yml",
    // Clouds.
    "**/.aws/credentials",
    ".s3cfg",
    ".boto",
    "accessTokens.json",
    "azureProfile.json",
    "msal_token_cache*",
    "service_principal_entries*",
    "application_default_credentials.json",
    "legacy_credentials",
    "access_tokens.db",
    "credentials.db",
    "client_secret*.json",
    // Secrets of projects.
    "credentials.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secrets.json",
    "*.tfstate",
    "terraform.tfstate*",
];
/// Tectum's own files. Nothing opens them.
pub const OURS: &[&str] = &[".tectum", ".tectum-*"];
/// Readable, never changed: version-control internals, and the file that holds our own rules.
pub const READ_ONLY: &[&str] = &[".git", "tectum.toml"];
/// Public keys lie beside the private ones under nearly the same names.
const PUBLIC: &[&str] = &["id_*.pub"];

/// True for a protection that no configuration file holds.
pub fn is_built_in(rule: &str) -> bool {
    [ALWAYS, SECRETS, OURS, READ_ONLY].iter().any(|list| list.contains(&rule))
}

/// The pattern for `[workspace] open` by which a path is open which this rule protects; `None` for a
/// rule that no line there lifts.
pub fn opened_by(rule: &str, path: &Path) -> Option<String> {
    if ![ALWAYS, SECRETS].iter().any(|list| list.contains(&rule)) {
        return None;
    }
    let closed = DenyList::new([rule]).ok()?;
    let named = path.ancestors().filter_map(Path::file_name);
    let name = named.filter(|name| closed.matches(Path::new(name)).is_some()).last();
    Some(name.and_then(OsStr::to_str).unwrap_or(rule).to_owned())
}

/// The built-in names without those that the operator opened.
#[derive(Debug)]
pub(crate) struct BuiltInNames {
    closed: DenyList,
    open: DenyList,
}

impl BuiltInNames {
    /// Compiles the lists; a bad pattern is returned with the reason.
    pub(crate) fn new(open: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let open = PUBLIC.iter().map(|name| (*name).to_owned()).chain(open);
        Ok(Self { closed: DenyList::new(ALWAYS.iter().chain(SECRETS))?, open: DenyList::new(open)? })
    }

    /// The rule that protects `relative`, or a folder it lies in.
    pub(crate) fn matches(&self, relative: &Path) -> Option<&str> {
        relative.ancestors().find_map(|path| self.matches_entry(path.parent()?, path.file_name()?))
    }

    /// The same for the last name of a path whose folder was judged before.
    pub(crate) fn matches_entry(&self, folder: &Path, name: &OsStr) -> Option<&str> {
        let rule = self.closed.matches_entry(folder, name)?;
        (!self.open.names_exactly(&folder.join(name))).then_some(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(open: &[&str], path: &str, expect: Option<&str>) {
        let names = BuiltInNames::new(open.iter().map(|name| (*name).to_owned())).expect("patterns compile");
        assert_eq!(names.matches(Path::new(path)), expect, "{path} with {open:?} open");
    }

    #[test]
    fn names_that_hold_secrets_are_closed() {
        for (path, rule) in [
            (".env", ".env*"),
            ("app/.env.production", ".env*"),
            ("id_rsa", "id_rsa*"),
            ("keys/id_ed25519", "id_ed25519*"),
            ("id_ecdsa_sk", "id_ecdsa*"),
            ("deploy/id_rsa.bak", "id_rsa*"),
            ("tls/server.P12", "*.p12"),
            (".npmrc", ".npmrc"),
            (".netrc", ".netrc"),
            (".pypirc", ".pypirc"),
            (".aws/credentials", "**/.aws/credentials"),
            ("home/me/.kube/config", "**/.kube/config"),
            (".docker/config.json", "**/.docker/config.json"),
            (".config/gcloud/application_default_credentials.json", "application_default_credentials.json"),
            (".azure/accessTokens.json", "accessTokens.json"),
            ("credentials.json", "credentials.json"),
            ("config/secrets.yml", "secrets.yml"),
            ("infra/terraform.tfstate", "*.tfstate"),
            ("infra/terraform.tfstate.backup", "terraform.tfstate*"),
            (".git-credentials", ".git-credentials"),
            (".ssh/authorized_keys", ".ssh"),
            (".cargo/config.toml", "config.toml"),
        ] {
            check(&[], path, Some(rule));
        }
    }

    #[test]
    fn names_that_source_code_uses_are_open() {
        for path in [
            "id_rsa.pub",
            "id_map.rs",
            "src/credentials.rs",
            "docs/secrets.md",
            ".aws/task-definition.json",
            ".docker/Dockerfile",
            ".kube/deployment.yaml",
            "config.json",
            "kube/config",
            "main.tf",
            "keystore.rs",
            "environment.rs",
            ".gitignore",
        ] {
            check(&[], path, None);
        }
    }

    #[test]
    fn what_is_opened_is_open_and_nothing_beside_it() {
        check(&["config.toml", ".env.example"], ".cargo/config.toml", None);
        check(&["config.toml", ".env.example"], ".env.example", None);
        check(&[".env.example"], ".env", Some(".env*"));
        check(&[".env.example"], ".env.example/.env", Some(".env*"));
        check(&[".env.example"], ".env.example.", Some(".env*"));
        check(&[".cargo/config.toml"], ".cargo/config.toml", None);
        check(&[".cargo/config.toml"], "x/.cargo/config.toml", Some("config.toml"));
        check(&["tests/keys/**"], "tests/keys/a/server.pem", None);
        check(&["tests/keys/**"], "server.pem", Some("*.pem"));
        check(&["**/.aws/credentials"], "x/.aws/credentials", None);
        assert!(BuiltInNames::new(["a[".to_owned()]).is_err());
    }

    #[test]
    fn the_line_that_opens_a_name_names_it() {
        let line = |rule: &str, path: &str| opened_by(rule, Path::new(path));
        assert_eq!(line(".env*", "app/.env.example").as_deref(), Some(".env.example"));
        assert_eq!(line(".ssh", "me/.ssh/config").as_deref(), Some(".ssh"));
        assert_eq!(line("**/.aws/credentials", ".aws/credentials").as_deref(), Some("**/.aws/credentials"));
        assert_eq!(line(".tectum", ".tectum/x"), None);
        assert_eq!(line("vault/**", "vault/x"), None);
    }
}
