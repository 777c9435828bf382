//! The one table of keys: from it come reading, checking, the environment, `show` and the schema.
//!
//! What a key is stands in `key.rs`. A new key is one entry here and one line where `build.rs` uses it.
//! One that does not say what a project's file may do with it is refused there.

#![expect(missing_docs, reason = "each key documents itself in `doc`")]

pub use super::key::{Each, FromProject, Key, Merge, Shape, Translation};
use super::{
    key::{PLAIN, key_table},
    value::Value,
};

const WORDS: Shape = Shape::List { each: Each::Word, empty: None };
const PATHS: Shape = Shape::List { each: Each::Path, empty: None };

// The keys of one section begin with one of these.
const WORKSPACE: Key = Key { section: "workspace", ..PLAIN };
const PERMISSIONS: Key = Key { section: "permissions", ..PLAIN };
const TOOLS: Key = Key { section: "tools", ..PLAIN };
const FEDERATION: Key = Key { section: "federation", ..PLAIN };
const OBSERVERS: Key = Key { section: "observers", ..PLAIN };
const JOURNAL: Key = Key { section: "journal", ..PLAIN };
const TELEMETRY: Key = Key {
    section: "telemetry",
    project: FromProject::Refused("choose where your calls are told of"),
    ..PLAIN
};
const MCP: Key = Key { section: "mcp", ..PLAIN };

/// A key of the desk.
const APPROVAL: Key =
    Key { section: "approval", project: FromProject::Refused("choose who is asked"), ..PLAIN };

/// A key of the language servers.
const DIAGNOSTICS: Key = Key {
    section: "diagnostics",
    project: FromProject::Refused("choose a program that is started, or its bounds"),
    ..PLAIN
};

/// A key of the listener.
const HTTP: Key = Key { section: "http", project: FromProject::Refused("open a listener"), ..PLAIN };

/// A key about the clients.
const CLIENTS: Key =
    Key { section: "clients", project: FromProject::Refused("choose what your clients are given"), ..PLAIN };

/// A key of the network tools.
const NETWORK: Key =
    Key { section: "network", project: FromProject::Refused("choose where requests go"), ..PLAIN };

/// A key of attention.
const ATTENTION: Key = Key { section: "attention", ..PLAIN };

/// A part of the theory of attention that is off unless asked for.
const DYNAMICS: Key = Key {
    section: "attention.dynamics",
    default: "false",
    project: FromProject::Refused("choose how news compete"),
    ..PLAIN
};

/// A key of commands.
const SHELL: Key = Key { section: "shell", ..PLAIN };

/// A key of `tectum run`.
const RUN: Key = Key {
    section: "run",
    project: FromProject::Refused("choose the model you talk to, where it is, or how much it may do"),
    ..PLAIN
};

/// A command of a language server.
const LANGUAGE_SERVER: Key = Key {
    shape: Shape::List {
        each: Each::Argument,
        empty: Some("name the program and its arguments, or remove the line"),
    },
    ..DIAGNOSTICS
};

/// The keys that name language servers.
pub const LANGUAGE_SERVERS: &[&Key] = &[&PYTHON, &C, &RUST, &TYPESCRIPT, &GO];

key_table! {
    pub static VERSION: Key = Key {
        name: "version",
        shape: Shape::Count { least: 1, most: 1 },
        default: "1",
        project: FromProject::Yields,
        doc: "The version of this file's format. There is only one: 1.",
        ..PLAIN
    };
    pub static ROOTS: Key = Key {
        name: "roots",
        shape: PATHS,
        default: ".",
        project: FromProject::Within,
        doc: "The directories tools may reach; with an empty list they reach nothing. Relative paths start at this file's directory.",
        ..WORKSPACE
    };
    pub static TRACKED: Key = Key {
        name: "tracked",
        shape: PATHS,
        merge: Merge::Sum,
        project: FromProject::Within,
        doc: "Single files outside the roots that tools may reach as well.",
        ..WORKSPACE
    };
    pub static READ_ONLY: Key = Key {
        name: "read_only",
        shape: Shape::List {
            each: Each::Pattern,
            empty: Some("an empty list protects nothing and lifts nothing; remove the line"),
        },
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Patterns of names that are read, never changed; added to the built-in ones (.git, tectum.toml).",
        ..WORKSPACE
    };
    pub static DENY: Key = Key {
        name: "deny",
        shape: Shape::List {
            each: Each::Pattern,
            empty: Some("an empty list lifts no protection: the built-in names stay closed; remove the line"),
        },
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Patterns of names that stay closed; added to the built-in ones (.env*, *.pem, *.key and others).",
        ..WORKSPACE
    };
    pub static OPEN: Key = Key {
        name: "open",
        shape: Shape::List {
            each: Each::Pattern,
            empty: Some("an empty list opens nothing and takes nothing back; remove the line"),
        },
        merge: Merge::Sum,
        project: FromProject::Refused("open protected names"),
        doc: "Patterns of names that are open although a built-in rule protects them, such as config.toml or .env.example.",
        ..WORKSPACE
    };
    pub static SYMLINKS: Key = Key {
        name: "symlinks",
        shape: Shape::Choice(&["inside", "never"]),
        default: "inside",
        project: FromProject::Stricter(&["inside", "never"]),
        doc: "Whether symbolic links are followed: while they stay inside their root, or never.",
        ..WORKSPACE
    };
    pub static TRACKED_OPENS: Key = Key {
        name: "tracked_opens",
        shape: Shape::Choice(&["file", "directory"]),
        default: "file",
        project: FromProject::Stricter(&["directory", "file"]),
        doc: "What a tracked file opens: the file itself, or the whole directory it is in.",
        ..WORKSPACE
    };
    pub static BREAK_HARD_LINKS: Key = Key {
        name: "break_hard_links",
        default: "false",
        project: FromProject::Stricter(&["true", "false"]),
        doc: "Whether a file with other hard links may be changed; the other names keep the old content.",
        ..WORKSPACE
    };
    pub static SHOW_ROOTS: Key = Key {
        name: "show_roots",
        default: "true",
        project: FromProject::Stricter(&["true", "false"]),
        doc: "Whether the refusal of a path names the directories that are allowed.",
        ..WORKSPACE
    };
    pub static GIT_DIRS: Key = Key {
        name: "git_dirs",
        shape: PATHS,
        merge: Merge::Sum,
        project: FromProject::Refused("open git directories outside of it"),
        doc: "Git directories and object stores outside the roots that get_git_diff may read.",
        ..WORKSPACE
    };
    pub static DEFAULT: Key = Key {
        name: "default",
        shape: Shape::Choice(&["allow", "ask", "deny"]),
        unset: "tools of the project are allowed, tools that reach beyond it ask",
        project: FromProject::Stricter(&["allow", "ask", "deny"]),
        doc: "The permission for a call that no rule matches.",
        ..PERMISSIONS
    };
    pub static ALLOW: Key = Key {
        name: "allow",
        shape: Shape::List { each: Each::Rule, empty: None },
        merge: Merge::Sum,
        project: FromProject::Trusted,
        doc: "Calls that run without asking: `tool` or `tool(pattern)`. Deny beats ask beats allow.",
        ..PERMISSIONS
    };
    pub static ALLOW_IN: Key = Key {
        name: "allow_in",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Refused("allow calls by itself"),
        doc: "Calls that run without asking in one project: \"/path/of/project=tool(pattern)\". An answer that is remembered for a project is added here.",
        ..PERMISSIONS
    };
    pub static ASK: Key = Key {
        name: "ask",
        shape: Shape::List { each: Each::Rule, empty: None },
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Calls that wait for a person's approval.",
        ..PERMISSIONS
    };
    pub static FORBID: Key = Key {
        name: "deny",
        shape: Shape::List {
            each: Each::Rule,
            empty: Some("an empty list takes back no rule of another file; remove the line"),
        },
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Calls that never run.",
        ..PERMISSIONS
    };
    pub static VIA: Key = Key {
        name: "via",
        shape: Shape::Choice(&["both", "desk", "client"]),
        default: "both",
        doc: "Who is asked: the person in front of the client that calls, whoever looks at this house (terminal, `tectum approve`, hook API), or both.",
        ..APPROVAL
    };
    pub static PATIENCE: Key = Key {
        name: "patience",
        shape: Shape::Span { least: 5, most: 3600 },
        default: "60s",
        doc: "How long a question waits for its answer once a person sees it.",
        ..APPROVAL
    };
    pub static HOLD: Key = Key {
        name: "hold",
        shape: Shape::Span { least: 1, most: 3600 },
        unset: "three quarters of what the client is known to wait",
        doc: "How long a call waits for an answer if its client can neither ask nor be kept waiting; then it is told to repeat the call.",
        ..APPROVAL
    };
    pub static NATIVE: Key = Key {
        name: "native",
        default: "true",
        project: FromProject::Off,
        doc: "Whether Tectum's own tools are offered.",
        ..TOOLS
    };
    pub static INCLUDE_TOOLS: Key = Key {
        name: "include",
        shape: WORDS,
        unset: "all of them",
        project: FromProject::Within,
        doc: "Names of Tectum's own tools, as globs, that are offered.",
        ..TOOLS
    };
    pub static EXCLUDE_TOOLS: Key = Key {
        name: "exclude",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Names of Tectum's own tools, as globs, that are not offered; they win over include.",
        ..TOOLS
    };
    pub static MAX_OUTPUT: Key = Key {
        name: "max_output",
        shape: Shape::Size { least: 1024 },
        unset: "each tool has its own cap",
        project: FromProject::Lower,
        doc: "A cap on every tool's text, below its own. k, M and G are powers of 1024.",
        ..TOOLS
    };
    pub static THREADS: Key = Key {
        name: "threads",
        shape: Shape::Count { least: 1, most: 256 },
        unset: "one per core, at most 8",
        project: FromProject::Lower,
        doc: "Threads a search may use.",
        ..TOOLS
    };
    pub static TIERS: Key = Key {
        name: "tiers",
        shape: WORDS,
        project: FromProject::Yields,
        doc: "The tiers that `handoff` can hand work over to; without any the tool is not offered.",
        ..TOOLS
    };
    pub static PROFILE: Key = Key {
        name: "profile",
        shape: Shape::Text,
        default: "auto",
        project: FromProject::Yields,
        doc: "Which tools clients are listed: all, lean (the tools and arguments that coding tasks need), one of your profiles, or auto: lean for coding agents, all for others. What is not listed can still be called.",
        ..TOOLS
    };
    pub static PROFILES: Key = Key {
        name: "profiles",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Yields,
        doc: "Profiles of your own, each a name and globs of tools: \"review=read_* search_* !search_files\".",
        ..TOOLS
    };
    pub static CLIENT_PROFILES: Key = Key {
        name: "client_profiles",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Yields,
        doc: "Profiles of single clients, by the name in their clientInfo: \"opencode=all\". They win over profile.",
        ..TOOLS
    };
    pub static PYTHON: Key = Key {
        name: "python",
        unset: "pyright-langserver, basedpyright-langserver or pylsp, whichever is installed",
        doc: "The language server for Python, as a list of the program and its arguments.",
        ..LANGUAGE_SERVER
    };
    pub static C: Key =
        Key { name: "c", unset: "clangd", doc: "The language server for C and C++.", ..LANGUAGE_SERVER };
    pub static RUST: Key = Key {
        name: "rust",
        unset: "rust-analyzer, without build scripts and macros of the project",
        doc: "The language server for Rust.",
        ..LANGUAGE_SERVER
    };
    pub static TYPESCRIPT: Key = Key {
        name: "typescript",
        unset: "tsc from version 7 on, or typescript-language-server with the compiler beside it",
        doc: "The language server for TypeScript and JavaScript.",
        ..LANGUAGE_SERVER
    };
    pub static GO: Key =
        Key { name: "go", unset: "gopls", doc: "The language server for Go.", ..LANGUAGE_SERVER };
    pub static MEMORY: Key = Key {
        name: "memory",
        shape: Shape::Size { least: 256 << 20 },
        default: "2G",
        doc: "The most memory that each process of a language server may take.",
        ..DIAGNOSTICS
    };
    pub static WAIT: Key = Key {
        name: "wait",
        shape: Shape::Span { least: 1, most: 30 },
        default: "2s",
        doc: "How long a question waits for a language server that runs; a start may take longer.",
        ..DIAGNOSTICS
    };
    pub static ALLOW_HOSTS: Key = Key {
        name: "allow_hosts",
        shape: Shape::List { each: Each::Host, empty: None },
        merge: Merge::Sum,
        doc: "Hosts that fetch_url reaches although their address is not public, such as \"localhost:3000\" or \"wiki.example\".",
        ..NETWORK
    };
    pub static SEARXNG: Key = Key {
        name: "searxng",
        shape: Shape::Text,
        unset: "DuckDuckGo",
        doc: "The address of the SearXNG server that web_search asks, such as http://127.0.0.1:8888/.",
        ..NETWORK
    };
    pub static ENVIRONMENT_PROXIES: Key = Key {
        name: "environment_proxies",
        default: "false",
        doc: "Whether fetch_url and web_search go through the proxies that HTTPS_PROXY and HTTP_PROXY name.",
        ..NETWORK
    };
    pub static DURABILITY: Key = Key {
        section: "files",
        name: "durability",
        shape: Shape::Choice(&["full", "rename"]),
        default: "full",
        project: FromProject::Yields,
        doc: "What a finished write guarantees: it survives a power cut, or it is only never half done.",
        ..PLAIN
    };
    pub static MAX_FILE: Key = Key {
        section: "files",
        name: "max_file",
        shape: Shape::Size { least: 1024 },
        default: "64M",
        project: FromProject::Lower,
        doc: "The largest file that is read whole, edited or searched.",
        ..PLAIN
    };
    pub static BEADS_PROGRAM: Key = Key {
        section: "beads",
        name: "program",
        shape: Shape::Choice(&["auto", "none"]),
        default: "auto",
        project: FromProject::Stricter(&["auto", "none"]),
        doc: "Who keeps beads: `bd` or `br` where one is installed, which asks before it runs, or none of them.",
        ..PLAIN
    };
    pub static LISTEN: Key = Key {
        name: "listen",
        shape: Shape::Address,
        default: "127.0.0.1:8999",
        doc: "Where `tectum up` listens.",
        ..HTTP
    };
    pub static AUTH: Key = Key {
        name: "auth",
        shape: Shape::Choice(&["token", "none"]),
        default: "token",
        doc: "Whether callers must send the bearer token. `none` is refused beyond loopback.",
        ..HTTP
    };
    pub static ALLOW_REMOTE: Key = Key {
        name: "allow_remote",
        default: "false",
        doc: "Lets `listen` name an address that other machines reach.",
        ..HTTP
    };
    pub static HOSTS: Key = Key {
        name: "hosts",
        shape: Shape::List { each: Each::Host, empty: None },
        doc: "Further host names this server answers to.",
        ..HTTP
    };
    pub static JOIN: Key = Key {
        section: "serve",
        name: "join",
        shape: Shape::Choice(&["auto", "off"]),
        default: "off",
        project: FromProject::Stricter(&["auto", "off"]),
        doc: "Whether `tectum serve` joins a running Tectum with the same project, settings and environment instead of starting everything again.",
        ..PLAIN
    };
    pub static READ: Key = Key {
        name: "read",
        shape: PATHS,
        merge: Merge::Sum,
        unset: "the project's .mcp.json and mcp_config.json, and mcp_config.json beside your own tectum.toml",
        project: FromProject::Trusted,
        doc: "Files of other programs whose servers are used as well; read live, never changed.",
        ..FEDERATION
    };
    pub static EXPOSURE: Key = Key {
        name: "exposure",
        shape: Shape::Choice(&["all", "core", "search"]),
        unset: "decided by how many tools there are",
        project: FromProject::Yields,
        doc: "Which tools of other servers a client sees up front: all, a core set, or a search tool.",
        ..FEDERATION
    };
    pub static FIRST_WAIT: Key = Key {
        section: "servers",
        name: "first_wait",
        shape: Shape::Span { least: 0, most: 60 },
        unset: "as long as the client waits: Codex 0.9 s, others 8 s",
        project: FromProject::Yields,
        doc: "How long a client's first list waits for servers that have never been started.",
        ..PLAIN
    };
    pub static DISCOVER: Key = Key {
        name: "discover",
        default: "false",
        project: FromProject::Yields,
        doc: "Whether servers with a tool `observe` get a copy of every call. EFFERENT_COPY_ENABLE=1 also switches it on; EFFERENT_COPY_DISABLE=1 switches it off whatever else is set.",
        ..OBSERVERS
    };
    pub static EXCLUDE: Key = Key {
        name: "exclude",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Names of servers, as globs, that get no copies.",
        ..OBSERVERS
    };
    pub static REDACT: Key = Key {
        name: "redact",
        default: "true",
        project: FromProject::Stricter(&["false", "true"]),
        doc: "Whether secrets are hidden in the copies. What is executed is never altered.",
        ..OBSERVERS
    };
    pub static REDACT_NAMES: Key = Key {
        name: "redact_names",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Names, as globs, whose values are hidden in the copies; added to the built-in ones (*password*, *token and others).",
        ..OBSERVERS
    };
    pub static REDACT_TEXTS: Key = Key {
        name: "redact_texts",
        shape: WORDS,
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Regular expressions for texts that are hidden in the copies; added to the built-in ones (private keys, tokens, credentials in addresses and others).",
        ..OBSERVERS
    };
    pub static RECORD: Key = Key {
        name: "record",
        default: "true",
        project: FromProject::Stricter(&["false", "true"]),
        doc: "Whether every call is recorded on the disk before it is answered.",
        ..JOURNAL
    };
    pub static SYNC: Key = Key {
        name: "sync",
        shape: Shape::Choice(&["always", "interval", "off"]),
        default: "interval",
        project: FromProject::Stricter(&["off", "interval", "always"]),
        doc: "What a power cut may take of the record: nothing, because calls wait for the disk; the last 0.2 s; or what the system had not written yet.",
        ..JOURNAL
    };
    pub static LAYOUT: Key = Key {
        name: "layout",
        shape: Shape::Choice(&["record", "seed"]),
        default: "record",
        project: FromProject::Refused("have files written into it"),
        doc: "Whether there is the record alone, or also a folder logs/sessions in the project with files for people.",
        ..JOURNAL
    };
    pub static OTHER_SESSIONS: Key = Key {
        name: "other_sessions",
        default: "false",
        project: FromProject::Refused("let agents read the calls of your other sessions"),
        doc: "Whether search_history and the resources tectum://sessions/ID reach the calls of other sessions of this project.",
        ..JOURNAL
    };
    pub static JOURNAL_KEEP: Key = Key {
        name: "keep",
        shape: Shape::Size { least: 64 * 1024 },
        default: "512m",
        project: FromProject::Refused("choose how much of your records is kept"),
        doc: "The most bytes that a project's record may have; the oldest part goes first.",
        ..JOURNAL
    };
    pub static JOURNAL_DAYS: Key = Key {
        name: "keep_days",
        shape: Shape::Count { least: 1, most: 36_500 },
        default: "90",
        project: FromProject::Refused("choose how much of your records is kept"),
        doc: "How many days a part of the record is kept after its last call.",
        ..JOURNAL
    };
    pub static TELEMETRY_ENDPOINT: Key = Key {
        name: "endpoint",
        shape: Shape::Text,
        unset: "nothing is sent, unless OTEL_EXPORTER_OTLP_ENDPOINT names a collector",
        doc: "The address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; \"none\" sends nothing.",
        ..TELEMETRY
    };
    pub static TELEMETRY_HEADERS: Key = Key {
        name: "headers",
        shape: Shape::Table,
        doc: "Headers of what is sent to the collector. ${NAME} is replaced by one of your environment variables.",
        ..TELEMETRY
    };
    pub static SAMPLE_PERCENT: Key = Key {
        name: "sample_percent",
        shape: Shape::Count { least: 0, most: 100 },
        default: "100",
        doc: "How many of a hundred traces that begin here are sent. A trace that a client began is sent if the client says so.",
        ..TELEMETRY
    };
    pub static TELEMETRY_CONTENT: Key = Key {
        name: "content",
        default: "false",
        doc: "Whether arguments and results of calls are sent as well, with secrets hidden.",
        ..TELEMETRY
    };
    pub static APPEND_ANCHORS: Key = Key {
        section: "context",
        name: "append_anchors",
        default: "false",
        project: FromProject::Yields,
        doc: "Whether the last result of a round ends with the anchored texts.",
        ..PLAIN
    };
    pub static REFRESH: Key = Key {
        section: "context",
        name: "refresh",
        default: "false",
        project: FromProject::Yields,
        doc: "Whether the last result of a round ends with a list of files that changed since the model read them.",
        ..PLAIN
    };
    pub static ORGANS: Key = Key {
        name: "organs",
        shape: Shape::Choice(&["off", "internal", "auto"]),
        default: "internal",
        project: FromProject::Stricter(&["auto", "internal", "off"]),
        doc: "What is watched for news: nothing, what Tectum itself notices, or also every resource of other servers.",
        ..ATTENTION
    };
    pub static HOURLY: Key = Key {
        name: "hourly",
        shape: Shape::Count { least: 1, most: 3600 },
        default: "6",
        project: FromProject::Lower,
        doc: "The most news that are told in an hour.",
        ..ATTENTION
    };
    pub static POLLS: Key = Key {
        name: "requests_a_second",
        shape: Shape::Count { least: 1, most: 1000 },
        default: "20",
        project: FromProject::Lower,
        doc: "The most reads of resources in a second, of all servers together.",
        ..ATTENTION
    };
    pub static TODO_ROUNDS: Key = Key {
        name: "todo_rounds",
        shape: Shape::Count { least: 1, most: 10_000 },
        default: "20",
        project: FromProject::Yields,
        doc: "The number of rounds after which a to-do list that nobody changed is news.",
        ..ATTENTION
    };
    pub static OSCILLATORS: Key = Key {
        name: "oscillators",
        doc: "Whether organs have a rhythm of their own that follows the agent's.",
        ..DYNAMICS
    };
    pub static HEADS: Key =
        Key { name: "heads", doc: "Whether weighted heads judge content in its context.", ..DYNAMICS };
    pub static PRECISION: Key =
        Key { name: "precision", doc: "Whether estimated precision scales salience.", ..DYNAMICS };
    pub static ADAPTER: Key =
        Key { name: "adapter", doc: "Whether contents go through the trained adapter.", ..DYNAMICS };
    pub static ENSEMBLE: Key =
        Key { name: "ensemble", doc: "Whether two workspaces compete that share what they hold.", ..DYNAMICS };
    pub static PRIOR: Key =
        Key { name: "prior", doc: "Whether organs that won before are favoured.", ..DYNAMICS };
    pub static ENERGY: Key =
        Key { name: "energy", doc: "Whether competing costs energy.", ..DYNAMICS };
    pub static STRUCTURED: Key = Key {
        name: "structured",
        shape: Shape::Choice(&["auto", "always", "never"]),
        default: "auto",
        doc: "Which clients get structured content beside the text of a result: auto (not those that pass it to the model), all, or none.",
        ..CLIENTS
    };
    pub static TEXT_CLIENTS: Key = Key {
        name: "text",
        shape: WORDS,
        doc: "Names of clients, as globs over the name in `clientInfo`, that get text alone.",
        ..CLIENTS
    };
    pub static DATA_CLIENTS: Key = Key {
        name: "data",
        shape: WORDS,
        doc: "Names of clients, as globs, that get structured content as well; they win over text.",
        ..CLIENTS
    };
    pub static REPLY_CHARS: Key = Key {
        name: "reply_chars",
        shape: WORDS,
        doc: "The longest reply of single clients, as \"NAME=CHARACTERS\"; the first entry whose glob fits holds.",
        ..CLIENTS
    };
    pub static MODEL: Key = Key {
        name: "model",
        shape: Shape::Text,
        unset: "`tectum run` needs --model",
        doc: "The model of `tectum run`, by its name at its server.",
        ..RUN
    };
    pub static BASE_URL: Key = Key {
        name: "base_url",
        shape: Shape::Text,
        unset: "`tectum run` needs --base-url",
        doc: "The address of its server's API, such as http://127.0.0.1:8080/v1, without any key in it.",
        ..RUN
    };
    pub static TIERS_FILE: Key = Key {
        name: "tiers",
        shape: Shape::Path,
        unset: "one tier with all tools",
        doc: "The file of tiers: who the model is, with which tools, and to whom it may hand over.",
        ..RUN
    };
    pub static CONTEXT: Key = Key {
        name: "context",
        shape: Shape::Count { least: 1000, most: 100_000_000 },
        default: "128000",
        doc: "The model's context size in tokens; the conversation is compacted before it is full.",
        ..RUN
    };
    pub static MAX_ROUNDS: Key = Key {
        name: "max_rounds",
        shape: Shape::Count { least: 1, most: 10_000 },
        default: "15",
        doc: "Rounds of calls after which the model has to sum up.",
        ..RUN
    };
    pub static MAX_CALLS: Key = Key {
        name: "max_calls",
        shape: Shape::Count { least: 1, most: 1000 },
        default: "10",
        doc: "Calls that one answer may make; those after them are refused.",
        ..RUN
    };
    pub static CONCURRENCY: Key = Key {
        name: "concurrency",
        shape: Shape::Count { least: 1, most: 256 },
        default: "8",
        doc: "Calls of one answer that run at the same time.",
        ..RUN
    };
    pub static MAX_ERRORS: Key = Key {
        name: "max_errors",
        shape: Shape::Count { least: 1, most: 1000 },
        default: "3",
        doc: "Rounds in a row in which every call failed, after which the model has to sum up.",
        ..RUN
    };
    pub static MAX_REPEATS: Key = Key {
        name: "max_repeats",
        shape: Shape::Count { least: 1, most: 1000 },
        default: "3",
        doc: "Repeats of the same call in a row after which the model has to sum up.",
        ..RUN
    };
    pub static SAME_TOOL: Key = Key {
        name: "same_tool",
        // From one on the first call would be a warning.
        shape: Shape::Count { least: 2, most: 10_000 },
        default: "5",
        doc: "Rounds of one and the same tool after which the model is warned; two rounds later it is refused.",
        ..RUN
    };
    pub static WORKERS: Key = Key {
        name: "workers",
        shape: Shape::Count { least: 1, most: 64 },
        default: "4",
        doc: "Tickets of a track that are worked on at the same time.",
        ..RUN
    };
    pub static ASK_SPAWN: Key = Key {
        name: "ask_spawn",
        default: "true",
        doc: "Whether you are asked before a model begins on a ticket of a track.",
        ..RUN
    };
    pub static SANDBOX: Key = Key {
        name: "sandbox",
        shape: Shape::Choice(&["on", "off"]),
        default: "on",
        project: FromProject::Stricter(&["off", "on"]),
        doc: "Whether the kernel holds commands to the roots. Where it cannot, commands are refused unless this is off.",
        ..SHELL
    };
    pub static SHELL_NETWORK: Key = Key {
        name: "network",
        default: "true",
        project: FromProject::Off,
        doc: "Whether commands may reach the network, this machine's own addresses included.",
        ..SHELL
    };
    pub static UNIX_SOCKETS: Key = Key {
        name: "unix_sockets",
        default: "false",
        project: FromProject::Stricter(&["true", "false"]),
        doc: "Whether commands may use sockets with a name. Behind them are programs that lead out of the sandbox, such as Docker.",
        ..SHELL
    };
    pub static SHELL_WRITE: Key = Key {
        name: "write",
        shape: Shape::List { each: Each::Path, empty: None },
        merge: Merge::Sum,
        project: FromProject::Refused("let commands change files outside of it"),
        doc: "Directories outside the roots that commands may change, such as ~/.cargo or ~/.npm.",
        ..SHELL
    };
    pub static SHELL_CLOSED: Key = Key {
        name: "closed",
        shape: Shape::List { each: Each::Path, empty: None },
        merge: Merge::Sum,
        project: FromProject::Adds,
        doc: "Files and directories that commands may not read; added to the usual places of secrets (~/.ssh, ~/.aws and others).",
        ..SHELL
    };
    pub static SHELL_OPEN: Key = Key {
        name: "open",
        shape: Shape::List { each: Each::Path, empty: None },
        merge: Merge::Sum,
        project: FromProject::Refused("let commands read your secrets"),
        doc: "Usual places of secrets that commands may read all the same, such as ~/.npmrc.",
        ..SHELL
    };
    pub static QA: Key = Key {
        name: "qa",
        project: FromProject::Refused("choose how commands run on your machine"),
        shape: Shape::List {
            each: Each::Argument,
            empty: Some("name the program and its arguments, or remove the line"),
        },
        unset: "no analysis",
        doc: "A command that reads the errors of a failed run_powershell and writes an analysis of them.",
        ..SHELL
    };
    pub static LEVEL: Key = Key {
        section: "log",
        name: "level",
        shape: Shape::Choice(&["error", "warn", "info", "debug", "trace"]),
        default: "warn",
        project: FromProject::Yields,
        doc: "How much is logged to standard error.",
        ..PLAIN
    };
    pub static MCP_ENABLED: Key = Key {
        name: "enabled",
        doc: "An earlier name: false means tools.native = false.",
        stands_for: Some(|value| (&NATIVE, value)),
        ..MCP
    };
    pub static MCP_BLACKLIST: Key = Key {
        name: "blacklist",
        shape: Shape::List { each: Each::Pattern, empty: None },
        doc: "An earlier name of workspace.deny.",
        stands_for: Some(|value| (&DENY, value)),
        ..MCP
    };
    pub static MCP_ALLOW_SYMLINKS: Key = Key {
        name: "allow_symlinks",
        doc: "An earlier name: false means workspace.symlinks = \"never\".",
        stands_for: Some(|value| {
            let word = if matches!(value, Value::Flag(true)) { "inside" } else { "never" };
            (&SYMLINKS, Value::Word(word.into()))
        }),
        ..MCP
    };
}

/// The tables of the file, in order.
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> =
        KEYS.iter().map(|key| key.section).filter(|section| !section.is_empty()).collect();
    sections.dedup();
    sections
}

/// The keys of one table; the empty name means the top of the file.
pub fn of_section(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().copied().filter(move |key| key.section == section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_are_unique_and_every_key_is_documented() {
        let mut variables: Vec<String> = KEYS.iter().map(|key| key.variable()).collect();
        variables.sort();
        variables.dedup();
        assert_eq!(variables.len(), KEYS.len());
        for key in KEYS {
            assert!(key.doc.ends_with('.'), "{}", key.path());
        }
    }

    #[test]
    fn every_key_says_what_a_projects_file_may_do_with_it() {
        for key in KEYS.iter().filter(|key| key.stands_for.is_none()) {
            let refused = matches!(key.project, FromProject::Refused(_));
            let operators = [
                "http",
                "diagnostics",
                "network",
                "clients",
                "run",
                "telemetry",
                "approval",
                "attention.dynamics",
            ]
            .contains(&key.section)
                || [&ALLOW_IN, &GIT_DIRS, &OPEN, &SHELL_WRITE, &SHELL_OPEN, &QA].contains(key)
                || [&LAYOUT, &OTHER_SESSIONS, &JOURNAL_KEEP, &JOURNAL_DAYS].contains(key);
            assert_eq!(refused, operators, "decide what a project may do with `{}`", key.path());
            let list = matches!(key.shape, Shape::List { .. });
            match key.project {
                FromProject::Adds | FromProject::Trusted => {
                    assert!(list && key.merge == Merge::Sum, "{}", key.path());
                }
                FromProject::Within => assert!(list, "{}", key.path()),
                FromProject::Lower => {
                    let bound = matches!(key.shape, Shape::Count { .. } | Shape::Size { .. });
                    assert!(bound, "{}", key.path());
                }
                FromProject::Off => assert!(matches!(key.shape, Shape::Flag), "{}", key.path()),
                FromProject::Stricter(words) => match key.shape {
                    Shape::Choice(known) => assert!(words.iter().all(|word| known.contains(word))),
                    _ => assert!(matches!(key.shape, Shape::Flag), "{}", key.path()),
                },
                FromProject::Refused(_) | FromProject::Yields => {}
            }
        }
    }
}
