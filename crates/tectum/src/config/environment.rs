//! The environment as a layer: `TECTUM_<SECTION>_<KEY>`, and the two words about observers that
//! others agree on. A name that comes near to a setting's is a mistake, since the setting that was
//! meant would not hold; any other is somebody else's and is told. An empty one counts as unset.

use std::ffi::OsString;

use tectum_core::nearest;

use super::{
    accept::Base,
    form::Written,
    keys::{self, KEYS, Key},
    merged::{Layer, Setting},
    place::{Origin, Problem},
    value::Value,
};

/// Variables of ours that are no settings of the file. `version` speaks about one file only, and
/// installers like to use that variable for something else. A Tectum that another one started
/// finds the mark that all processes of that start carry, and from which starts it descends.
const APART: &[&str] =
    &["TECTUM_AUTHORIZE", "TECTUM_GUARDED", "TECTUM_LOG", "TECTUM_TOKEN", "TECTUM_VERSION", "TECTUM_WITHIN"];
/// The tests' toolbox sets some as well.
const TOOLBOX: &str = "TECTUM_TOOLBOX";
/// Answers to what other programs' files ask for, such as `${input:token}`.
pub const INPUT: &str = "TECTUM_INPUT_";
/// Variables that say whether there are observers, with `1` and with nothing else. The later wins.
const COPIES: [(&str, bool); 2] = [("EFFERENT_COPY_ENABLE", true), ("EFFERENT_COPY_DISABLE", false)];

/// Letters that may be missing from a misspelt name, or too many in it.
const MISSPELT: usize = 2;

/// Reads every `TECTUM_*` variable. What has no effect is told in `notes`.
pub fn read(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
    notes: &mut Vec<String>,
) -> Layer {
    let named = variables.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let (mut ours, others): (Vec<_>, Vec<_>) =
        named.filter(|(_, value)| !value.is_empty()).partition(|(name, _)| is_setting(name));
    ours.sort();
    let mut layer = Layer::default();
    for (name, value) in ours {
        let origin = Origin::Environment(name.clone());
        let Some(key) = KEYS.iter().find(|key| key.variable() == name) else {
            let known: Vec<String> = KEYS.iter().map(|key| key.variable()).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = nearest(&name, known.iter().copied());
            if near.is_some_and(|near| near.len().abs_diff(name.len()) <= MISSPELT) {
                problems.push(Problem::unknown(origin, "setting", &name, &known))
            } else {
                notes.push(format!("{origin}: this is not a Tectum setting and has no effect"))
            }
            continue;
        };
        layer.extend(setting(key, value, origin, base, problems));
    }
    let says = |name: &str| others.iter().any(|(known, value)| known == name && value == "1");
    for (name, on) in COPIES.into_iter().filter(|(name, _)| says(name)) {
        layer.push(Setting::new(&keys::DISCOVER, Value::Flag(on), Origin::Environment(name.to_owned())));
    }
    layer
}

fn is_setting(name: &str) -> bool {
    let apart = APART.contains(&name) || name.starts_with(TOOLBOX) || name.starts_with(INPUT);
    name.starts_with("TECTUM_") && !apart
}

fn setting(
    key: &'static Key,
    value: OsString,
    origin: Origin,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Setting> {
    let Ok(text) = value.into_string() else {
        problems.push(Problem::new(origin, "its value is not UTF-8"));
        return None;
    };
    let value = Written::from_text(key, text.trim(), origin.clone()).accept(key, base, problems)?;
    Some(Setting::new(key, value, origin))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn problems(variables: &[(&str, &str)]) -> (usize, Vec<String>) {
        let base = Base { directory: Path::new("/project"), home: None };
        let (mut problems, mut notes) = (Vec::new(), Vec::new());
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let layer = read(variables, base, &mut problems, &mut notes);
        let told = problems.iter().map(|p| format!("{p} ({})", p.hint.as_deref().unwrap_or_default()));
        (layer.len(), told.chain(notes).collect())
    }

    #[test]
    fn known_variables_set_their_key_and_others_are_left_alone() {
        let (set, told) = problems(&[
            ("TECTUM_FILES_DURABILITY", "rename"),
            ("TECTUM_WORKSPACE_READ_ONLY", "vendor/**,*.lock"),
            ("TECTUM_LOG", "debug"),
            ("TECTUM_TOKEN", "x"),
            ("TECTUM_VERSION", "0.1.0"),
            ("TECTUM_TOOLBOX_NODE", "x"),
            ("TECTUM_INPUT_TOKEN", "x"),
            ("TECTUM_HTTP_LISTEN", ""),
            ("HOME", "/root"),
        ]);
        assert_eq!((set, told), (2, vec![]));
    }

    #[test]
    fn a_misspelt_or_wrong_variable_is_a_mistake_and_any_other_is_told() {
        let (_, told) = problems(&[
            ("TECTUM_FILE_DURABILITY", "full"),
            ("TECTUM_TOOLS_NATIVE", "on"),
            ("TECTUM_TOOLS", "x"),
            ("TECTUM_HOME", "/opt/tectum"),
        ]);
        assert_eq!(
            told,
            [
                "env TECTUM_FILE_DURABILITY: unknown setting `TECTUM_FILE_DURABILITY` (did you mean `TECTUM_FILES_DURABILITY`?)",
                "env TECTUM_TOOLS_NATIVE: `tools.native` must be true or false, got the text \"on\" (write native = true or native = false)",
                "env TECTUM_HOME: this is not a Tectum setting and has no effect",
                "env TECTUM_TOOLS: this is not a Tectum setting and has no effect",
            ]
        );
    }
}
