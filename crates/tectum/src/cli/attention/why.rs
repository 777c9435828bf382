//! `tectum attention why`: every number that made something news.

use clap::Args;
use serde_json::Value;

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, harmless},
    },
    house,
};

/// Show every number that made something news, and who was told.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Its id, such as n17
    id: String,
}

impl Why {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let id: String = self.id.chars().filter(char::is_ascii_alphanumeric).collect();
        let news = house::get(shared, &format!("/api/attention/news/{id}"))?;
        if screen.json {
            return screen.print_json(&news);
        }
        let text = |name: &str| news[name].as_str().unwrap_or_default().to_owned();
        let mut out = format!("{} {}\n{}\n\n", text("id"), text("at"), text("sentence"));
        numbers(&news["why"], "", &mut out);
        let told = news["told"].as_array().cloned().unwrap_or_default();
        out.push_str(if told.is_empty() { "\ntold to nobody yet\n" } else { "\n" });
        for telling in told {
            let word = |name: &str| telling[name].as_str().unwrap_or_default().to_owned();
            let seen = telling["seen"].as_str().map_or("not seen yet".to_owned(), |at| format!("seen {at}"));
            out.push_str(&format!(
                "told to {} by {} at {}, {seen}\n",
                word("client"),
                word("how"),
                word("at")
            ));
        }
        screen.print(&harmless(&out))
    }
}

/// A line for each number, the names of nested ones joined by dots.
fn numbers(value: &Value, prefix: &str, out: &mut String) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                numbers(value, &name, out);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                numbers(value, &format!("{prefix}[{at}]"), out);
            }
        }
        Value::Null => {}
        Value::Number(number) if number.is_f64() => {
            out.push_str(&format!("{prefix:<24} {:.4}\n", number.as_f64().unwrap_or_default()));
        }
        Value::String(text) => out.push_str(&format!("{prefix:<24} {text}\n")),
        other => out.push_str(&format!("{prefix:<24} {other}\n")),
    }
}
