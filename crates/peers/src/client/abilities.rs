//! The abilities of a client, read out of the capabilities that it declares.

use std::{collections::BTreeSet, sync::Arc};

use crate::wire::{Members, Object};

/// Parts of one ability that are told apart, and the longest name of one: the protocol knows a handful.
const MOST_ABILITIES: usize = 16;
const LONGEST_ABILITY: usize = 64;

/// True when these capabilities allow this request to the client.
pub(crate) fn can(capabilities: &str, method: &str) -> bool {
    let wanted = match method {
        "elicitation/create" => "elicitation",
        "sampling/createMessage" => "sampling",
        "roots/list" => "roots",
        _ => return false,
    };
    Members::of(capabilities).is_some_and(|members| members.get(wanted).is_some())
}

/// True when whoever declares these capabilities can put a form to a person: one that says nothing
/// more about elicitation can, one that only opens addresses cannot.
pub(crate) fn shows_forms(capabilities: &str) -> bool {
    let Some(declared) = Members::of(capabilities) else { return false };
    let elicitation = declared.object("elicitation");
    elicitation.is_some_and(|modes| modes.0.is_empty() || modes.get("form").is_some())
}

/// The capabilities a server may make use of.
pub(crate) fn abilities(capabilities: &str) -> Arc<str> {
    let Some(members) = Members::of(capabilities) else { return "{}".into() };
    let asked = |name: &str| matches!(name, "elicitation" | "sampling" | "roots");
    Object::new().all(&members.keep(asked)).end().into()
}

/// The same by name: `roots`, `elicitation.url`. What a server offers may depend on the first two
/// levels.
pub(crate) fn ability_names(abilities: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in Members::of(abilities).unwrap_or_default().0 {
        let inner = Members::of(value.get()).unwrap_or_default().0;
        let inner = inner.iter().map(|(part, _)| format!("{name}.{part}"));
        names.extend(inner.filter(|name| name.len() <= LONGEST_ABILITY).take(MOST_ABILITIES));
        names.insert(name.into_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_abilities_are_those_of_two_levels() {
        let names = ability_names(r#"{"elicitation":{"form":{"x":{}},"url":{}},"sampling":{},"roots":true}"#);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["elicitation", "elicitation.form", "elicitation.url", "roots", "sampling"]);
        assert!(ability_names("no object").is_empty());
    }

    #[test]
    fn forms_are_shown_by_those_who_do_not_only_open_addresses() {
        for (declared, shown) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":true}"#, false),
            (r#"{"sampling":{}}"#, false),
            ("[]", false),
        ] {
            assert_eq!(shows_forms(declared), shown, "{declared}");
        }
    }
}
