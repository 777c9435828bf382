//! The screen *Context*: what stays in the sight of models, and the files that they know.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tectum_core::directives::TODO_ANCHOR;
use tectum_journal::tokens;
use tectum_peers::federation::SeenFile;

use super::super::hooked::Hooks;

/// What models keep in sight, and the files they know
#[utoipa::path(get, path = "/api/console/context", responses((status = 200, description = "The context", body = Value)))]
pub(in super::super) async fn context(State(hooks): State<Hooks>) -> Json<Value> {
    let anchors = hooks.house().effects().anchors.all();
    let told: Vec<Value> = anchors
        .iter()
        .map(|anchor| {
            json!({
                "key": &*anchor.key,
                "content": &*anchor.content,
                "tokens": tokens(anchor.content.len()),
                // The key of a server's anchor begins with its name.
                "from": anchor.key.split_once('/').map_or("tectum", |(server, _)| server),
            })
        })
        .collect();
    let todos =
        anchors.iter().find(|anchor| &*anchor.key == TODO_ANCHOR).map(|anchor| todos(&anchor.content));
    let looking = {
        let hooks = hooks.clone();
        // Each file is looked at on the disk.
        tokio::task::spawn_blocking(move || hooks.federation().known_files())
    };
    let clients: Vec<(String, Vec<SeenFile>)> = looking.await.unwrap_or_default();
    let mut files: Vec<&SeenFile> = clients.iter().flat_map(|(_, files)| files).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path).then(other.stale.cmp(&one.stale)));
    files.dedup_by(|one, other| one.path == other.path);
    let clients: Vec<Value> = clients
        .iter()
        .map(|(name, files)| json!({ "name": name, "files": files.iter().map(file).collect::<Vec<_>>() }))
        .collect();
    Json(json!({
        "anchors": told,
        "todos": todos.unwrap_or_default(),
        "files": files.into_iter().map(file).collect::<Vec<_>>(),
        // Without it nobody notes which files the models of MCP clients know.
        "follows_files": hooks.house().effects().closing().refresh,
        "clients": clients,
    }))
}

fn file(file: &SeenFile) -> Value {
    json!({ "path": file.path, "stale": file.stale, "tokens": file.bytes.map(tokens) })
}

/// The lines of a list of things to do, as the tool for it writes them: `[0] [x] Read`.
fn todos(text: &str) -> Vec<Value> {
    let line = |line: &str| {
        let (number, rest) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        number.parse::<usize>().ok()?;
        let (sign, text) = rest.strip_prefix('[')?.split_once("] ")?;
        let state = match sign {
            "x" => "completed",
            ">" => "in_progress",
            _ => "pending",
        };
        Some(json!({ "text": text, "state": state }))
    };
    text.lines().filter_map(line).collect()
}

/// The thing to do that is being done.
pub(super) fn in_progress(hooks: &Hooks) -> Option<String> {
    let list = hooks.house().effects().anchors.get(TODO_ANCHOR)?;
    let todo = todos(&list.content).into_iter().find(|todo| todo["state"] == "in_progress")?;
    todo["text"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_to_do_are_read_from_what_models_see() {
        let seen = "[CURRENT TODO STATE]\n  [0] [x] Read\n  [1] [>] Write (Writing)\nlead:\n  [2] [ ] Test [1]\nProgress: 1/3 completed";
        let expect = [("Read", "completed"), ("Write (Writing)", "in_progress"), ("Test [1]", "pending")];
        let told = todos(seen);
        assert_eq!(told.len(), expect.len());
        for (told, (text, state)) in told.iter().zip(expect) {
            assert_eq!((&told["text"], &told["state"]), (&json!(text), &json!(state)));
        }
    }
}
