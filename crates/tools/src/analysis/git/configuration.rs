//! The content of git's files of configuration, as far as it matters here. Git reads them, one at a
//! time and as plain data, so that none of it takes effect by being read.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use tectum_core::{Fault, FaultKind};

/// Filters that are overruled one by one.
const FILTERS: usize = 500;

/// Settings of the user that a comparison needs to be right, and the values they may have. All else
/// that the user's own files say is left aside: in a served home, an agent could have written it.
const USER_SETTINGS: &[(&str, &[&str])] = &[
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.filemode", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.precomposeunicode", &["true", "false"]),
    ("core.trustctime", &["true", "false"]),
];

/// Names and values, the later ones winning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Configuration(Vec<(Vec<u8>, Vec<u8>)>);

impl Configuration {
    /// Reads what `git config --list -z` writes: `name LF value NUL`, again and again.
    pub(super) fn parse(out: &[u8]) -> Self {
        let entries = out.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let split = |entry: &[u8]| match entry.iter().position(|byte| *byte == b'\n') {
            Some(end) => (entry[..end].to_vec(), entry[end + 1..].to_vec()),
            // A name without a value means yes.
            None => (entry.to_vec(), b"true".to_vec()),
        };
        Self(entries.map(split).collect())
    }

    pub(super) fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(super) fn value(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().rev().find(|(key, _)| key == name.as_bytes()).map(|(_, value)| value.as_slice())
    }

    /// The files it includes, whatever the condition. One below the user's home is none: git is
    /// run without a home.
    pub(super) fn included(&self) -> Vec<PathBuf> {
        let is_path = |key: &[u8]| {
            key == b"include.path" || (key.starts_with(b"includeif.") && key.ends_with(b".path"))
        };
        let paths = self.0.iter().filter(|(key, value)| is_path(key) && !value.starts_with(b"~"));
        paths.map(|(_, value)| PathBuf::from(OsStr::from_bytes(value))).collect()
    }

    /// Settings that keep every filter it names from running: git would start one to compare a file.
    pub(super) fn without_filters(&self) -> Result<Vec<(OsString, String)>, Fault> {
        let names: BTreeSet<&[u8]> = self.0.iter().filter_map(|(key, _)| filter_name(key)).collect();
        if names.len() > FILTERS {
            return Err(Fault::new(
                FaultKind::TooLarge,
                "the repository's configuration names too many filters",
            ));
        }
        let settings = |name: &[u8]| {
            [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")].map(|(key, value)| {
                let full = [b"filter.", name, b".", key.as_bytes()].concat();
                (OsString::from_vec(full), value.to_owned())
            })
        };
        Ok(names.into_iter().flat_map(settings).collect())
    }

    /// The harmless settings of the user's own files.
    pub(super) fn user_settings(&self) -> Vec<(&'static str, String)> {
        let said = |(name, values): &(&'static str, &[&str])| {
            let value = String::from_utf8_lossy(self.value(name)?).to_lowercase();
            values.contains(&value.as_str()).then_some((*name, value))
        };
        USER_SETTINGS.iter().filter_map(said).collect()
    }
}

/// The name between `filter.` and the last dot.
fn filter_name(key: &[u8]) -> Option<&[u8]> {
    let start = key.starts_with(b"filter.").then_some(b"filter.".len())?;
    let end = key.iter().rposition(|byte| *byte == b'.')?;
    (start <= end).then(|| &key[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_found_once() {
        let listed =
            b"core.bare\nfalse\0filter.lfs.clean\nx\0filter.lfs.smudge\ny\0filter.a.b=c.process\0filter.x\n\0filter..clean\n1\0";
        let settings = Configuration::parse(listed).without_filters().expect("few");
        let names: BTreeSet<_> = settings.iter().map(|(name, _)| name.to_str().expect("text")).collect();
        assert_eq!(settings.len(), 12);
        for name in ["filter..clean", "filter.a.b=c.process", "filter.lfs.required"] {
            assert!(names.contains(name), "{names:?}");
        }
    }

    #[test]
    fn the_user_gives_only_what_is_on_the_list() {
        let said = Configuration::parse(
            b"core.autocrlf\nInput\0core.eol\nevil\0trace2.eventtarget\n/x\0core.filemode\0core.pager\nx\0",
        );
        assert_eq!(
            said.user_settings(),
            [("core.autocrlf", "input".to_owned()), ("core.filemode", "true".to_owned())]
        );
    }

    #[test]
    fn included_files_are_named_whatever_the_condition() {
        let said = Configuration::parse(
            b"include.path\n/a\0includeif.gitdir:x.y.path\nb\0include.path\n~/c\0includeif.x\nd\0",
        );
        assert_eq!(said.included(), [PathBuf::from("/a"), PathBuf::from("b")]);
    }
}
