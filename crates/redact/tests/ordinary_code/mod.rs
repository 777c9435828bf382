//! Ordinary source text to measure on: the downloads of cargo in the long form, otherwise the crates
//! of this project that have nothing to do with credentials.

use std::path::{Path, PathBuf};

const ENDINGS: &[&str] = &["rs", "toml", "md", "c", "h", "py", "js", "json", "yml", "sh", "txt"];

/// Files with their texts, at least `size` bytes of them if there are so many, spread over all packages.
#[expect(clippy::disallowed_methods, reason = "sources to measure on, not an agent's path")]
pub(crate) fn sources(size: usize) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    match cargo.map(|cargo| cargo.join("registry/src")) {
        Some(registry) if std::env::var_os("TECTUM_SOAK").is_some() && registry.is_dir() => {
            collect(&registry, &mut files);
        }
        _ => ["syntax", "tools", "lsp", "security"]
            .iter()
            .for_each(|own| collect(&project.join(own), &mut files)),
    }
    files.sort();
    let step = (files.iter().map(|(_, length)| *length as usize).sum::<usize>() / size.max(1)).max(1);
    let mut total = 0;
    let mut texts = Vec::new();
    for (path, _) in (0..step).flat_map(|first| files.iter().skip(first).step_by(step)) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        total += text.len();
        texts.push((path.clone(), text));
        if total >= size {
            break;
        }
    }
    texts
}

#[expect(clippy::disallowed_methods, reason = "sources to measure on, not an agent's path")]
fn collect(directory: &Path, files: &mut Vec<(PathBuf, u64)>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() && path.extension().is_some_and(|end| ENDINGS.iter().any(|e| end == *e)) {
            files.extend(entry.metadata().ok().map(|metadata| (path, metadata.len())));
        }
    }
}
