//! Python's own `ast` as a peer: one process that parses every file of a list.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Reads all files, then parses and walks them. Only statements are walked, since nothing else holds a
/// definition. Prints the CPU seconds of parsing and walking, or the definitions.
const SCRIPT: &str = r#"
import ast, json, sys, time, warnings
warnings.simplefilter('ignore')
mode, listed = sys.argv[1:]
texts = []
for path in open(listed).read().splitlines():
    data = open(path, 'rb').read()
    texts.append((path, (data[3:] if data.startswith(b'\xef\xbb\xbf') else data).decode('utf-8')))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = FUNCTIONS + (ast.ClassDef,)
def definitions(tree):
    found = []
    waiting = [(tree, False)]
    while waiting:
        holder, in_class = waiting.pop()
        for field in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            for node in getattr(holder, field, ()):
                if isinstance(node, DEFINITIONS):
                    is_class = isinstance(node, ast.ClassDef)
                    kind = 'Class' if is_class else 'Method' if in_class else 'Func'
                    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                    found.append((node.name, kind, first, node.end_lineno))
                    waiting.append((node, is_class))
                elif hasattr(node, 'body') or hasattr(node, 'cases'):
                    waiting.append((node, in_class))
    return found
began = time.process_time()
count = 0
for path, text in texts:
    try:
        found = definitions(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    count += len(found or ())
    if mode == 'print':
        print(json.dumps({'path': path, 'definitions': found}))
if mode == 'time':
    print(json.dumps({'cpu': time.process_time() - began, 'count': count}))
"#;

/// The result of `ast` for one file.
#[derive(Deserialize)]
pub(crate) struct Parsed {
    pub(crate) path: String,
    /// Name, kind, first line with decorators, last line; `None` if Python refuses the file.
    pub(crate) definitions: Option<Vec<(String, String, usize, usize)>>,
}

#[derive(Deserialize)]
struct Timed {
    cpu: f64,
    count: usize,
}

/// CPU seconds for the files of a list, and the number of their definitions.
pub(crate) fn time(list: &Path) -> Result<(f64, usize)> {
    let Timed { cpu, count } = serde_json::from_str(run("time", list)?.trim())?;
    Ok((cpu, count))
}

/// Every definition in the files of a list.
pub(crate) fn definitions(list: &Path) -> Result<Vec<Parsed>> {
    run("print", list)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

pub(crate) fn version() -> Result<String> {
    let answer =
        Command::new("python3").args(["-c", "import sys; print(sys.version.split()[0])"]).output()?;
    Ok(String::from_utf8(answer.stdout)?.trim().to_owned())
}

fn run(mode: &str, list: &Path) -> Result<String> {
    let mut python = Command::new("python3");
    python.args(["-c", SCRIPT, mode]).arg(list).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = python.output().context("python3 could not be started")?;
    ensure!(output.status.success(), "ast failed");
    Ok(String::from_utf8(output.stdout)?)
}
