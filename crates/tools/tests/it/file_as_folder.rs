//! A file is no folder: a slash or a dot after its name is refused by every tool that takes paths.

use std::path::Path;

use serde_json::Value;

use crate::{
    attacker::{calls, plant},
    edit_rig::house,
    files_rig::call,
};

/// Puts `ending` after every path in the arguments that leads to a file; how many there were.
fn end_files_with(args: &mut Value, ending: &str, root: &Path) -> usize {
    match args {
        Value::String(text) if root.join(&*text).is_file() => {
            text.push_str(ending);
            1
        }
        Value::Array(items) => items.iter_mut().map(|item| end_files_with(item, ending, root)).sum(),
        Value::Object(fields) => fields.values_mut().map(|field| end_files_with(field, ending, root)).sum(),
        _ => 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_takes_a_file_for_a_folder() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (root, outside) = (scratch.path().join("root"), scratch.path().join("outside"));
    std::fs::create_dir(&root).expect("made");
    let house = house(&root, None);
    let tools: Vec<String> = house.registry().snapshot().tools().map(|tool| tool.name.to_string()).collect();
    plant(&root, &outside, &tools);
    let mut tried = 0;
    for tool in &tools {
        for ending in ["/", "/.", "//", "/./", "/./."] {
            for (name, mut args) in calls(tool, "sub").unwrap_or_default() {
                if end_files_with(&mut args, ending, &root) == 0 {
                    continue;
                }
                if let Ok((text, _)) = call(&house, name, args.clone()).await {
                    panic!("{name} {args}: {text}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "only {tried} calls were tried");
}
