//! File URIs of the protocol. Servers spell the same URI in different ways, so they are compared as paths.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

const SCHEME: &str = "file://";

/// The URI of a file by its absolute path.
pub(crate) fn of_path(path: &Path) -> String {
    let mut uri = String::from(SCHEME);
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

/// The path of a URI; `None` if it is not a local file.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix(SCHEME)?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest).as_bytes();
    let mut path = Vec::with_capacity(rest.len());
    let mut at = 0;
    while at < rest.len() {
        let escaped = rest.get(at + 1..at + 3).filter(|_| rest[at] == b'%');
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        path.push(byte.unwrap_or(rest[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    let path = Path::new(OsStr::from_bytes(&path));
    path.is_absolute().then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_spellings_mean_the_same_file() {
        for uri in ["file:///a%20b/%C3%BC%40.py", "file:///a%20b/ü@.py", "file://localhost/a b/%c3%bc@.py"] {
            assert_eq!(to_path(uri), Some(PathBuf::from("/a b/ü@.py")), "{uri}");
        }
        assert_eq!(of_path(Path::new("/a b/ü@.py")), "file:///a%20b/%C3%BC%40.py");
        for no in ["untitled:1", "file://a", "http://x/y", ""] {
            assert_eq!(to_path(no), None, "{no}");
        }
        assert_eq!(to_path("file:///50%"), Some(PathBuf::from("/50%")));
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(1_u8..=255, 0..40)) {
            let path = Path::new("/").join(OsStr::from_bytes(&name));
            prop_assert_eq!(to_path(&of_path(&path)), Some(path));
        }
    }
}
