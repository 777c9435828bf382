//! The things that a client's own tool touches, in the words of our rules: which of our tools does the
//! same, and about what.

use std::path::Path;

use serde_json::Value;
use tectum_core::{
    Judgement, Subject, Wants, World,
    security::{Access, RawPath},
};
use tectum_web::PageUrl;

use super::shape::{HookCall, text};

/// One thing that a client's tool touches.
#[derive(Debug)]
pub(super) struct Touched {
    /// The name that rules know it by.
    pub(super) tool: String,
    pub(super) wants: Wants,
    pub(super) world: World,
    /// True if it touches nothing beyond the client itself.
    pub(super) inner: bool,
}

/// The client's tools by what they do.
enum Does {
    Runs,
    Reads,
    Writes,
    Edits,
    Deletes,
    Patches,
    Lists,
    Finds,
    Searches,
    Fetches,
    Asks,
    /// Nothing beyond the client: notes, plans, questions to its person, other agents of it, which send
    /// hooks themselves.
    Inner,
}

/// What a tool of any of these clients does; `None` for one that is not known.
fn does(tool: &str) -> Option<Does> {
    Some(match tool {
        "Bash" | "Shell" | "run_shell_command" | "shell" | "exec_command" | "local_shell" => Does::Runs,
        "Read" | "NotebookRead" | "read_file" | "view_image" => Does::Reads,
        "Write" | "write_file" => Does::Writes,
        "Edit" | "MultiEdit" | "NotebookEdit" | "StrReplace" | "EditNotebook" | "replace" => Does::Edits,
        "Delete" => Does::Deletes,
        "apply_patch" => Does::Patches,
        "LS" | "list_directory" => Does::Lists,
        "Glob" | "glob" => Does::Finds,
        "Grep" | "SemanticSearch" | "search_file_content" | "grep_search" => Does::Searches,
        "WebFetch" | "web_fetch" => Does::Fetches,
        "WebSearch" | "google_web_search" | "web_search" => Does::Asks,
        // Claude Code.
        "Agent" | "AskUserQuestion" | "BashOutput" | "EnterPlanMode" | "ExitPlanMode" | "KillShell"
        | "ListAgents" | "ReportFindings" | "ScheduleWakeup" | "Skill" | "StructuredOutput" | "Task"
        | "TaskCreate" | "TaskGet" | "TaskList" | "TaskOutput" | "TaskStop" | "TaskUpdate" | "TodoWrite"
        | "ToolSearch" | "Workflow" => Does::Inner,
        // Codex.
        "create_goal" | "get_goal" | "request_user_input" | "tool_search" | "update_goal" | "update_plan" => {
            Does::Inner
        }
        // Cursor.
        "AskQuestion" | "SwitchMode" | "TodoRead" => Does::Inner,
        // Gemini CLI.
        "ask_user"
        | "enter_plan_mode"
        | "exit_plan_mode"
        | "get_internal_docs"
        | "invoke_agent"
        | "list_background_processes"
        | "read_background_output"
        | "update_topic"
        | "write_todos" => Does::Inner,
        _ => return None,
    })
}

/// All things that a call touches, or why that cannot be said.
pub(super) fn touched(call: &HookCall) -> Result<Vec<Touched>, String> {
    if let Some((server, tool)) = &call.served {
        let name = if server.is_empty() { tool.clone() } else { format!("{server}__{tool}") };
        return Ok(vec![named(&name, World::Peer(Judgement::Ask))]);
    }
    let Some(does) = does(&call.tool) else { return Ok(vec![named(&call.tool, World::Open)]) };
    let file = || call.path(&["file_path", "path", "notebook_path", "absolute_path", "target_file"]);
    let folder = || {
        let names = ["path", "dir_path", "directory", "target_directory"];
        call.path(&names).unwrap_or_else(|_| call.beneath(""))
    };
    let one = |tool: &str, path: &RawPath, access| Ok(vec![on_path(tool, path, access)]);
    match does {
        Does::Runs => Ok(vec![call.command()?]),
        Does::Reads => one("read_file", &file()?, Access::Read),
        Does::Writes => one("write_file", &file()?, Access::Write),
        Does::Edits => one("edit_file", &file()?, Access::Write),
        Does::Deletes => one("delete_file", &file()?, Access::Remove),
        Does::Patches => patched(call),
        Does::Lists => one("list_directory", &folder(), Access::Read),
        Does::Searches => one("search_content", &folder(), Access::Read),
        Does::Finds => {
            let pattern = text(&call.input, &["pattern"]).unwrap_or_default();
            let base = folder();
            let path = Path::new(base.as_str()).join(fixed(&pattern)).display().to_string();
            one("search_files", &RawPath::new(path), Access::Read)
        }
        Does::Fetches => fetched(call),
        Does::Asks => Ok(vec![about("web_search", text(&call.input, &["query"]).unwrap_or_default())]),
        Does::Inner => Ok(vec![Touched { inner: true, ..named(&call.tool, World::Project) }]),
    }
}

impl HookCall {
    /// The path in the first of these arguments.
    fn path(&self, names: &[&str]) -> Result<RawPath, String> {
        let path = text(&self.input, names).filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| format!("none of its arguments {} is a path", names.join(", ")))?;
        Ok(self.beneath(&path))
    }

    /// A path as the client means it: relative ones start from its directory.
    fn beneath(&self, path: &str) -> RawPath {
        let whole = Path::new(&self.directory).join(path);
        let whole = whole.display().to_string();
        RawPath::new(if whole.is_empty() { "." } else { whole.trim_end_matches('/') })
    }

    /// A command, split into the parts that rules for `run_shell` see.
    fn command(&self) -> Result<Touched, String> {
        let line = match ["command", "cmd"].iter().find_map(|name| self.input.get(*name)) {
            Some(Value::String(line)) => line.clone(),
            Some(Value::Array(words)) => {
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                spoken(&words.ok_or("its command is not a list of texts")?)
            }
            _ => return Err("it has no `command`".into()),
        };
        let named = text(&self.input, &["workdir", "dir_path", "directory"]).unwrap_or_default();
        let wants = Wants {
            subject: tectum_tools::shell::subject(&line, false),
            paths: vec![(self.beneath(&named), Access::Read)],
        };
        Ok(Touched { tool: "run_shell".into(), wants, world: World::Open, inner: false })
    }
}

/// The command line of words: that inside `bash -lc`, which is what a client's shell tool adds.
fn spoken(words: &[&str]) -> String {
    match words {
        [shell, "-c" | "-lc", line] if ["bash", "sh", "zsh"].iter().any(|name| shell.ends_with(name)) => {
            (*line).to_owned()
        }
        words => {
            let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
            quoted.collect::<Vec<_>>().join(" ")
        }
    }
}

fn named(tool: &str, world: World) -> Touched {
    let wants = Wants { subject: Subject::None, paths: Vec::new() };
    Touched { tool: tool.to_owned(), wants, world, inner: false }
}

fn about(tool: &str, subject: String) -> Touched {
    let wants = Wants { subject: Subject::Text(subject), paths: Vec::new() };
    Touched { wants, ..named(tool, World::Open) }
}

fn on_path(tool: &str, path: &RawPath, access: Access) -> Touched {
    Touched { wants: Wants::path(path, access), ..named(tool, World::Project) }
}

/// The part of a pattern before its first wildcard, or all of it where it climbs.
fn fixed(pattern: &str) -> String {
    let names: Vec<&str> = pattern.split('/').collect();
    if names.contains(&"..") {
        return pattern.to_owned();
    }
    let plain = names.iter().take_while(|name| !name.contains(['*', '?', '[', '{', '!']));
    let plain: Vec<&str> = plain.copied().collect();
    let joined = plain.join("/");
    if joined.is_empty() && pattern.starts_with('/') { "/".to_owned() } else { joined }
}

/// The files of a patch in Codex's form.
fn patched(call: &HookCall) -> Result<Vec<Touched>, String> {
    let patch = text(&call.input, &["command", "input", "patch"]).ok_or("it has no patch")?;
    let mut all = Vec::new();
    for line in patch.lines() {
        let Some(head) = line.trim_end().strip_prefix("*** ") else { continue };
        let (tool, path, access) = match head.split_once(": ") {
            Some(("Add File", path)) => ("write_file", path, Access::Write),
            Some(("Update File", path)) => ("edit_file", path, Access::Write),
            Some(("Delete File", path)) => ("delete_file", path, Access::Remove),
            Some(("Move to", path)) => ("move_file", path, Access::Write),
            Some((other, _)) if other != "Environment ID" => {
                return Err(format!("`*** {other}` in its patch is not known"));
            }
            _ => continue,
        };
        all.push(on_path(tool, &call.beneath(path.trim()), access));
    }
    Ok(all)
}

/// The addresses that are fetched; Gemini writes them into a sentence.
fn fetched(call: &HookCall) -> Result<Vec<Touched>, String> {
    if let Some(url) = text(&call.input, &["url"]) {
        return Ok(vec![about("fetch_url", page(&url)?)]);
    }
    let prompt = text(&call.input, &["prompt"]).ok_or("it has no `url`")?;
    let words = prompt.split(|c: char| c.is_whitespace() || "\"'<>()[]`,".contains(c));
    let urls: Result<Vec<String>, String> = words.filter(|word| word.contains("://")).map(page).collect();
    let urls = urls?;
    if urls.is_empty() {
        return Ok(vec![named("fetch_url", World::Open)]);
    }
    Ok(urls.into_iter().map(|url| about("fetch_url", url)).collect())
}

/// An address as `fetch_url` spells it.
fn page(url: &str) -> Result<String, String> {
    url.parse().map(|page: PageUrl| page.to_string())
}

#[cfg(test)]
#[path = "touched_tests.rs"]
mod tests;
