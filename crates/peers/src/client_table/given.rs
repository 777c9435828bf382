//! The part of a result that a client's model is given, as far as that was looked at.

use serde_json::Value;

use super::facts::{ClientFacts, ModelReads};

impl ClientFacts {
    /// The client that people mean by a word: its title, the first word of it, or its name.
    pub fn named(word: &str) -> Option<&'static Self> {
        let plain =
            |text: &str| text.trim_end_matches('*').trim_end_matches('-').to_lowercase().replace(' ', "-");
        let word = plain(word);
        let means = |facts: &&Self| {
            let title = plain(facts.title);
            title == word || title.split('-').next() == Some(&word) || plain(facts.name) == word
        };
        Self::known().iter().find(means)
    }

    /// The text that its model is given of a `tools/call` result.
    pub fn given(&self, result: &Value) -> String {
        let data = result.get("structuredContent").map(Value::to_string);
        let texts = || {
            let blocks = result["content"].as_array().into_iter().flatten();
            blocks.map(block).collect::<Vec<_>>().join("\n")
        };
        match (self.model_reads, data) {
            (ModelReads::Structured, Some(data)) if result["isError"] != true => data,
            (ModelReads::Both, Some(data)) => format!("{data}\n{}", texts()),
            _ => texts(),
        }
    }
}

/// A block of content; what is no text is named.
fn block(block: &Value) -> String {
    let word = |name: &str| block[name].as_str().unwrap_or_default();
    match word("type") {
        "text" => word("text").to_owned(),
        "resource_link" => format!("[resource link: {} ({})]", word("uri"), word("name")),
        "resource" => {
            let text = block["resource"]["text"].as_str().map(str::to_owned);
            text.unwrap_or_else(|| format!("[resource: {}]", block["resource"]["uri"]))
        }
        kind => format!("[{kind}: {}]", word("mimeType")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_is_found_by_the_words_people_use() {
        for (word, title) in [
            ("claude", "Claude Code"),
            ("Claude Code", "Claude Code"),
            ("claude-code", "Claude Code"),
            ("codex", "Codex"),
            ("codex-mcp-client", "Codex"),
            ("gemini", "Gemini CLI"),
            ("qwen", "Qwen Code"),
            ("qwen-cli-mcp-client-*", "Qwen Code"),
        ] {
            assert_eq!(ClientFacts::named(word).map(|facts| facts.title), Some(title), "{word}");
        }
        assert_eq!(ClientFacts::named("code"), None);
        assert_eq!(ClientFacts::named(""), None);
    }

    #[test]
    fn each_kind_of_client_gives_its_model_something_else() {
        let both = json!({"content": [{"type": "text", "text": "words"}], "structuredContent": {"a": 1}});
        let text = json!({"content": [{"type": "text", "text": "words"}, {"type": "image", "mimeType": "image/png"}]});
        for (client, of_both) in
            [("claude", "{\"a\":1}"), ("opencode", "words"), ("qwen", "{\"a\":1}\nwords")]
        {
            let facts = ClientFacts::named(client).expect("known");
            assert_eq!(facts.given(&both), of_both, "{client}");
            assert_eq!(facts.given(&text), "words\n[image: image/png]", "{client}");
        }
    }
}
