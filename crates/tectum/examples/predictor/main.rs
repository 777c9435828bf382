//! An observer to read and to use: an MCP server that learns from copies of calls which tool
//! follows which, how surprising the latest calls were, and which tools fail, and tells it to an
//! agent that asks with `bootstrap_session`. It needs nothing but the two tools.
//!
//! Usage: `predictor [--state FILE]`. With a file, what it learned outlives it.
#![expect(clippy::disallowed_methods, reason = "a program of its own, with one file that its user names")]

mod model;

use std::{
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::{Value, json};

use crate::model::Model;

/// The version of MCP it speaks; clients that speak a newer one fall back to it.
const VERSION: &str = "2025-11-25";
/// Copies between two writes of the state: few are lost if it is killed.
const BETWEEN_WRITES: u64 = 32;
const INVALID_PARAMS: i64 = -32602;
const UNKNOWN_METHOD: i64 = -32601;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let state = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--state", file] => Some(PathBuf::from(file)),
        _ => {
            let _ = writeln!(io::stderr(), "usage: predictor [--state FILE]");
            return ExitCode::from(2);
        }
    };
    match serve(state.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "predictor: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers a message a line until the input ends.
fn serve(state: Option<&Path>) -> io::Result<()> {
    let mut model = state.map(load).unwrap_or_default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        // What is no JSON cannot be answered: it has no id.
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let Some(id) = message.get("id") else { continue };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match answered(&mut model, &message) {
            Ok(result) => answer["result"] = result,
            Err((code, why)) => answer["error"] = json!({"code": code, "message": why}),
        }
        writeln!(out, "{answer}")?;
        out.flush()?;
        if let Some(file) = state.filter(|_| model.unsaved() >= BETWEEN_WRITES) {
            save(&mut model, file)?;
        }
    }
    match state {
        Some(file) => save(&mut model, file),
        None => Ok(()),
    }
}

fn answered(model: &mut Model, message: &Value) -> Result<Value, (i64, String)> {
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({"protocolVersion": VERSION, "capabilities": {"tools": {}},
            "serverInfo": {"name": "predictor", "version": env!("CARGO_PKG_VERSION")}})),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({"tools": tools()})),
        "tools/call" => call(model, params),
        method => Err((UNKNOWN_METHOD, format!("there is no method {method}"))),
    }
}

fn call(model: &mut Model, params: &Value) -> Result<Value, (i64, String)> {
    let args = &params["arguments"];
    match params["name"].as_str().unwrap_or_default() {
        "observe" => {
            let wants = || (INVALID_PARAMS, "observe: `tool_name` must be a text".to_owned());
            let tool = args["tool_name"].as_str().ok_or_else(wants)?;
            model.learn(tool, args.get("result"));
            Ok(json!({"content": []}))
        }
        "bootstrap_session" => {
            let learned = model.learned();
            let text = learned.to_string();
            Ok(json!({"content": [{"type": "text", "text": text}], "structuredContent": learned}))
        }
        name => Err((INVALID_PARAMS, format!("there is no tool {name}"))),
    }
}

fn tools() -> Value {
    json!([
        {
            "name": "observe",
            "description": "Takes a copy of a call: without `result` before it, with `result` after it.",
            "inputSchema": {"type": "object", "required": ["tool_name", "args"], "properties": {
                "tool_name": {"type": "string"}, "args": {"type": "object"}, "result": {"type": "object"}}},
        },
        {
            "name": "bootstrap_session",
            "description": "What was learned from earlier calls: the tools that usually come next, which tool follows which, how surprising the latest calls were (in bits), and which tools failed.",
            "inputSchema": {"type": "object", "properties": {}},
            "annotations": {"readOnlyHint": true},
        },
    ])
}

/// The model of earlier runs. A file that cannot be read is told, and learning begins anew.
fn load(file: &Path) -> Model {
    let read = match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Model::default(),
        Err(error) => Err(error),
    };
    read.map(|kept: Value| Model::from_kept(&kept)).unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "predictor: {}: {error}; it begins anew", file.display());
        Model::default()
    })
}

/// Writes beside the file first, so that it is whole at every moment.
fn save(model: &mut Model, file: &Path) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, model.kept().to_string())?;
    std::fs::rename(&beside, file)
}
