//! The spellings that a file system may take for one name.
//!
//! Case-folding ext4, APFS, HFS+, NTFS and FAT each compare names in a way of their own. A
//! protected name is folded by all of them together, so that none of its spellings is open.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use unicode_normalization::UnicodeNormalization;

/// Patterns are folded when they are compiled, paths when they are matched.
pub(crate) fn folded(path: &Path) -> Cow<'_, Path> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_ascii() && !bytes.iter().any(u8::is_ascii_uppercase) {
        return path.into();
    }
    match path.to_str() {
        Some(text) => PathBuf::from(fold(text)).into(),
        None => PathBuf::from(OsString::from_vec(bytes.to_ascii_lowercase())).into(),
    }
}

/// Letter case, composed and decomposed letters and characters that show nothing make no
/// difference.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let shown = text.nfd().filter(|c| !is_ignored(*c));
    // Lower, upper and lower again: some letters (the long s, the sharp s in both its cases, the
    // dotless i) meet their plain forms only on the way.
    let cased = shown.flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let mut last = ' ';
    // A capital I with its dot is a plain i in some languages.
    let undotted = cased.filter(move |c| std::mem::replace(&mut last, *c) != 'i' || *c != '\u{307}');
    undotted.nfc().collect()
}

/// True if a file system could take these for one name.
pub(crate) fn same_name(one: &OsStr, other: &OsStr) -> bool {
    one == other || folded(Path::new(one)) == folded(Path::new(other))
}

/// True for what file systems leave out when they compare names: the default ignorable code points of
/// Unicode, which ext4 drops all and HFS+ some of.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The same path as NTFS and FAT read it, where they read it otherwise: without the dots and
/// spaces at the end of a name, and without the stream after a colon.
pub(crate) fn trimmed(path: &Path) -> Option<PathBuf> {
    let bytes = path.as_os_str().as_bytes();
    let odd = |name: &[u8]| name.contains(&b':') || matches!(name.last(), Some(b'.' | b' '));
    if !bytes.split(|byte| *byte == b'/').any(odd) {
        return None;
    }
    let mut trimmed = Vec::with_capacity(bytes.len());
    for (index, name) in bytes.split(|byte| *byte == b'/').enumerate() {
        if index > 0 {
            trimmed.push(b'/');
        }
        let plain = name.split(|byte| *byte == b':').next().unwrap_or(name);
        let end = plain.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
        trimmed.extend_from_slice(if end == 0 { name } else { &plain[..end] });
    }
    Some(OsString::from_vec(trimmed).into())
}

/// The short names that NTFS and FAT may give to what a pattern protects: `GIT~1` for `.git`,
/// `CONFIG~1.TOM` for `config.toml`. None for a pattern whose names are short already, or that
/// has other wildcards than `*`.
pub(crate) fn short_names(pattern: &str) -> Vec<String> {
    if pattern.contains(['[', ']', '{', '}', '?', '\\']) {
        return Vec::new();
    }
    let name = pattern.trim_start_matches('.');
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let long = name.len() < pattern.len()
        || extension.len() > 3
        || base.len() > 8
        || base.contains([' ', '.', '+', ',', ';', '=']);
    let open = base.contains('*') && base != "*";
    if name.is_empty() || !(long || open) {
        return Vec::new();
    }
    let stem = cut(base, 6);
    let extension = if extension.is_empty() { String::new() } else { format!(".{}", cut(extension, 3)) };
    let mut stems = vec![stem.clone()];
    // After a few names that begin alike a checksum stands in for most of the letters.
    if let Some(start) = stem.get(..2).filter(|start| !start.contains('*')) {
        stems.push(format!("{start}{}", "[0-9a-f]".repeat(4)));
    }
    let numbers = ["[0-9]", "[0-9][0-9]"];
    let names = |stem: &String| numbers.map(|number| format!("{stem}~{number}{extension}"));
    stems.iter().flat_map(names).collect()
}

/// The first letters, without what a short name leaves out; up to a `*` where one comes first.
fn cut(text: &str, most: usize) -> String {
    let letters: String = text.chars().filter(|c| !matches!(c, '.' | ' ')).take(most).collect();
    match letters.find('*') {
        Some(star) => letters[..=star].to_owned(),
        None => letters,
    }
}
