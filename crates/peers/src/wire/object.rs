//! A JSON object taken apart one level deep and put together again: members that nobody asked
//! about keep their bytes, their order and their number forms.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object, in their order.
#[derive(Debug, Default)]
pub(crate) struct Members<'m>(pub(crate) Vec<(Cow<'m, str>, &'m RawValue)>);

impl<'m> Members<'m> {
    /// Takes an object apart; `None` for anything else.
    pub(crate) fn of(json: &'m str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The first member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&'m RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The members of the first member of this name, where it is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        Self::of(self.get(key)?.get())
    }

    /// The first member of this name as text, where it is a string.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The object with another value, JSON already, in the place of each member of this name.
    pub(crate) fn replaced(&self, key: &str, json: &str) -> String {
        let mut object = Object::new();
        for (name, value) in &self.0 {
            object.raw(name, if name == key { json } else { value.get() });
        }
        object.end()
    }

    /// The members whose names pass.
    pub(crate) fn keep(mut self, pass: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(name, _)| pass(name));
        self
    }
}

impl<'de: 'm, 'm> Deserialize<'de> for Members<'m> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value::<&'de RawValue>()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// A key that is borrowed where it holds no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

/// Room for most objects: a call with its name and small arguments.
const USUAL: usize = 128;

/// An object being written.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let mut object = String::with_capacity(USUAL);
        object.push('{');
        Self(object)
    }

    /// Adds a member whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        // Names of members hardly ever hold anything that is written otherwise in a string.
        if key.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
            self.0.extend(["\"", key, "\":", json]);
        } else {
            self.0.extend([&quoted(key), ":", json]);
        }
        self
    }

    /// Adds a member whose value is text.
    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        let value = quoted(value);
        self.raw(key, &value)
    }

    /// Adds members as they are.
    pub(crate) fn all(&mut self, members: &Members<'_>) -> &mut Self {
        for (key, value) in &members.0 {
            self.raw(key, value.get());
        }
        self
    }

    /// The finished object.
    pub(crate) fn end(&mut self) -> String {
        self.0.push('}');
        std::mem::take(&mut self.0)
    }
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// JSON that is known to be JSON, owned.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_bytes_and_order() {
        let json = r#"{"z":1.0,"a":{"n":1e2,"b":[ 1 ]},"z\u0041":null,"z":2}"#;
        let members = Members::of(json).expect("an object");
        assert_eq!(members.get("a").expect("there").get(), r#"{"n":1e2,"b":[ 1 ]}"#);
        assert_eq!(members.get("z").expect("there").get(), "1.0");
        assert_eq!(Object::new().all(&members).end(), r#"{"z":1.0,"a":{"n":1e2,"b":[ 1 ]},"zA":null,"z":2}"#);
        assert!(Members::of("[1]").is_none());
    }

    #[test]
    fn objects_are_built_from_parts() {
        let members = Members::of(r#"{"a":1,"b":2}"#).expect("an object").keep(|name| name != "a");
        assert_eq!(
            Object::new().text("q", "\"").all(&members).raw("c", "[]").end(),
            r#"{"q":"\"","b":2,"c":[]}"#
        );
        assert_eq!(Object::new().end(), "{}");
    }
}
