//! The one table of keys of a `[servers.NAME]`: reading, checking, `show` and the schema follow it.
//!
//! Entries of other programs' files are translated to these keys and checked against them as well.

#![expect(missing_docs, reason = "each key documents itself in `doc`")]

use super::super::{
    key::{PLAIN, key_table},
    keys::{Each, Key, Shape},
};

/// The table of `tectum.toml` that holds the servers.
pub const TABLE: &str = "servers";
/// The name of one of its tables where no name is known.
const SECTION: &str = "servers.NAME";
/// The longest time anything may be allowed to take.
const DAY: u64 = 24 * 60 * 60;

/// A key of a server; the statics below change what differs.
const SERVER: Key = Key { section: SECTION, ..PLAIN };
const WORDS: Shape = Shape::List { each: Each::Word, empty: None };

key_table! {
    pub static COMMAND: Key = Key {
        name: "command",
        shape: Shape::Command,
        doc: "The program to start, or a list of it and its arguments. A path that is not absolute starts \
              at this file's directory; a bare name is searched in PATH.",
        ..SERVER
    };
    pub static ARGS: Key = Key {
        name: "args",
        shape: Shape::List { each: Each::Argument, empty: None },
        doc: "The program's arguments.",
        ..SERVER
    };
    pub static ENV: Key = Key {
        name: "env",
        shape: Shape::Table,
        doc: "Environment variables of the program. ${NAME} is replaced by one of yours.",
        ..SERVER
    };
    pub static CWD: Key = Key {
        name: "cwd",
        shape: Shape::Text,
        unset: "the served directory",
        doc: "Where the program starts; a relative path starts at the served directory.",
        ..SERVER
    };
    pub static URL: Key =
        Key { name: "url", shape: Shape::Text, doc: "The URL of a server that is already running.", ..SERVER };
    pub static TYPE: Key = Key {
        name: "type",
        shape: Shape::Choice(&["stdio", "http", "sse", "streamable-http", "streamable_http"]),
        unset: "stdio with a command, http with a url",
        doc: "How the server is reached.",
        ..SERVER
    };
    pub static HEADERS: Key = Key {
        name: "headers",
        shape: Shape::Table,
        doc: "Headers of every request. ${NAME} is replaced by one of your environment variables.",
        ..SERVER
    };
    pub static ERA: Key = Key {
        name: "era",
        shape: Shape::Choice(&["auto", "legacy", "modern"]),
        default: "auto",
        doc: "Which protocol version the server speaks.",
        ..SERVER
    };
    pub static ENABLED: Key =
        Key { name: "enabled", default: "true", doc: "Whether the server is used.", ..SERVER };
    pub static REQUIRED: Key =
        Key { name: "required", default: "false", doc: "Whether Tectum refuses to start without it.", ..SERVER };
    pub static PREFIX: Key = Key {
        name: "prefix",
        default: "true",
        doc: "Whether its tools are called NAME__tool. At most one server may have no prefix.",
        ..SERVER
    };
    pub static START_TIMEOUT: Key = Key {
        name: "start_timeout",
        shape: Shape::Span { least: 1, most: DAY },
        default: "60s",
        doc: "How long its start may take.",
        ..SERVER
    };
    pub static TIMEOUT: Key = Key {
        name: "timeout",
        shape: Shape::Span { least: 1, most: DAY },
        default: "5m",
        doc: "How long a call may go without any sign of progress. A call is answered before its client gives up, whatever this says.",
        ..SERVER
    };
    pub static MAX_TIMEOUT: Key = Key {
        name: "max_timeout",
        shape: Shape::Span { least: 1, most: DAY },
        default: "30m",
        doc: "How long a call may take in total.",
        ..SERVER
    };
    pub static CONCURRENCY: Key = Key {
        name: "concurrency",
        shape: Shape::Count { least: 1, most: 1024 },
        default: "64",
        doc: "Calls that run there at the same time; further calls wait.",
        ..SERVER
    };
    pub static RATE: Key = Key {
        name: "rate",
        shape: Shape::Count { least: 1, most: 1_000_000 },
        unset: "no limit",
        doc: "Calls a minute.",
        ..SERVER
    };
    pub static INCLUDE: Key = Key {
        name: "include",
        shape: WORDS,
        unset: "all of them",
        doc: "Patterns of its tools that are used.",
        ..SERVER
    };
    pub static EXCLUDE: Key =
        Key { name: "exclude", shape: WORDS, doc: "Patterns of its tools that are left out.", ..SERVER };
    pub static ISOLATION: Key = Key {
        name: "isolation",
        shape: Shape::Choice(&["shared", "per-client"]),
        default: "shared",
        doc: "Whether all clients share one connection, or each has its own.",
        ..SERVER
    };
    pub static PERMISSION: Key = Key {
        name: "permission",
        shape: Shape::Choice(&["allow", "ask", "deny"]),
        default: "allow",
        doc: "The permission for its tools where no rule in [permissions] matches.",
        ..SERVER
    };
    pub static NEW_TOOLS: Key = Key {
        name: "new_tools",
        shape: Shape::Choice(&["take", "ask"]),
        default: "take",
        doc: "Whether a tool it adds after its first start is used at once, or withheld until a person approves it.",
        ..SERVER
    };
    pub static MAX_RESULT: Key = Key {
        name: "max_result",
        shape: Shape::Size { least: 1024 },
        default: "1M",
        doc: "The largest result that is passed on unchanged.",
        ..SERVER
    };
    pub static DIRECTIVES: Key = Key {
        name: "directives",
        shape: WORDS,
        default: "context_anchor,todo_state_changed,notify_presenter",
        doc: "Which directives its results may use; anchors and notes by default.",
        ..SERVER
    };
    pub static SCOPES: Key = Key {
        name: "scopes",
        shape: WORDS,
        unset: "the server decides",
        doc: "The OAuth scopes to request at login.",
        ..SERVER
    };
    pub static CLIENT_ID: Key = Key {
        name: "client_id",
        shape: Shape::Text,
        doc: "Tectum's name at the authorization server, where one was registered by hand.",
        ..SERVER
    };
    pub static CLIENT_SECRET_ENV: Key = Key {
        name: "client_secret_env",
        shape: Shape::Text,
        doc: "The environment variable that holds the secret that goes with client_id.",
        ..SERVER
    };
}

/// The keys that mean something only for a program to start.
pub static OF_COMMANDS: &[&Key] = &[&ARGS, &ENV, &CWD];
/// The keys that mean something only for an address.
pub static OF_URLS: &[&Key] = &[&HEADERS, &SCOPES, &CLIENT_ID, &CLIENT_SECRET_ENV];
/// The keys that say what a server is; all others say how it is treated and may stand alone.
pub static IDENTITY: &[&Key] = &[&ARGS, &ENV, &CWD, &TYPE, &HEADERS];
/// The keys whose values may be secrets: only the names in them are ever shown.
pub static SECRET: &[&Key] = &[&ENV, &HEADERS];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_key_is_documented() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        for key in KEYS {
            assert!(key.doc.ends_with('.') && key.section == SECTION, "{}", key.path());
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        use tectum_peers::spec;
        let seconds = |key: &Key, unit: u64| {
            key.default.trim_end_matches(['s', 'm']).parse::<u64>().expect("a number") * unit
        };
        assert_eq!(seconds(&START_TIMEOUT, 1), spec::START_TIMEOUT.as_secs());
        assert_eq!(seconds(&TIMEOUT, 60), spec::TIMEOUT.as_secs());
        assert_eq!(seconds(&MAX_TIMEOUT, 60), spec::MOST_TIMEOUT.as_secs());
        assert_eq!(CONCURRENCY.default, spec::CONCURRENCY.to_string());
        assert_eq!((MAX_RESULT.default, spec::MAX_RESULT), ("1M", 1 << 20));
        assert_eq!(DIRECTIVES.default, spec::DIRECTIVES.join(","));
    }
}
