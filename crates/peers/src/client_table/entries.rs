//! The clients that were looked at with the real programs, as data.

use std::time::Duration;

use super::facts::{ClientFacts, ModelReads, ToolsShown};

/// The first entry whose name and version fit holds.
pub(super) const ENTRIES: &[ClientFacts] = &[
    ClientFacts {
        name: "claude-code",
        title: "Claude Code",
        model_reads: ModelReads::Structured,
        reply_chars: 49_000,
        big_replies: true,
        tools: ToolsShown::Names,
        elicitation: true,
        source: "2.1.325, headless: over HTTP it gives up after 60 s, on stdio not within 330 s",
        ..CODING
    },
    ClientFacts {
        name: "codex-mcp-client",
        title: "Codex",
        model_reads: ModelReads::Structured,
        reply_chars: 47_000,
        first_wait: Duration::from_millis(900),
        tools: ToolsShown::Search,
        elicitation: true,
        list_changed: false,
        patience: Some(Duration::from_secs(300)),
        progress: false,
        source: "0.166.0, headless: a model it does not know gets the first and last of 12,000 bytes",
        ..CODING
    },
    ClientFacts {
        name: "opencode",
        title: "opencode",
        model_reads: ModelReads::Text,
        reply_chars: 50_000,
        source: "1.18.33, headless",
        ..CODING
    },
    ClientFacts {
        name: "gemini-cli-mcp-client",
        title: "Gemini CLI",
        model_reads: ModelReads::Text,
        reply_chars: 39_000,
        renamed: &[("write_file", "create_file")],
        source: "0.61.0, headless: over HTTP it gives up after 60 s, on stdio not within 330 s; \
                 every block is shown to the model as untrusted; a rule against its own write_file, as \
                 it has without a person, is one against every server's",
        ..CODING
    },
    ClientFacts {
        name: "qwen-cli-mcp-client-*",
        title: "Qwen Code",
        model_reads: ModelReads::Both,
        reply_chars: 24_000,
        tools: ToolsShown::Search,
        list_changed: false,
        patience: Some(Duration::from_secs(300)),
        source: "0.24.4, headless",
        ..CODING
    },
    ClientFacts {
        name: "tectum",
        title: "Tectum",
        first_wait: Duration::ZERO,
        patience: None,
        source: "another house: it hears of changes, its own client decides how long it waits, and two \
                 that use each other would wait for each other",
        ..UNKNOWN
    },
];

/// The facts for everybody else: the most careful of those that were seen.
pub(super) const UNKNOWN: ClientFacts = ClientFacts {
    name: "*",
    versions: (None, None),
    title: "any other client",
    model_reads: ModelReads::Unknown,
    coding: false,
    reply_chars: 24_000,
    big_replies: false,
    first_wait: Duration::from_secs(8),
    tools: ToolsShown::All,
    renamed: &[],
    elicitation: false,
    list_changed: true,
    patience: Some(Duration::from_secs(60)),
    progress: true,
    source: "the most careful of what was seen with others",
};

/// The facts that the coding agents have in common.
const CODING: ClientFacts = ClientFacts { coding: true, ..UNKNOWN };
