//! Every file that implements a tool is in the catalog and in its module tree: a tool that is not
//! listed could be neither called nor guarded.

use super::rust_text::{code_only, find_words};
use super::violation::Violation;
use crate::checkout::Source;

const ROOT: &str = "crates/tools/src/";
const CATALOG: &str = "crates/tools/src/catalog.rs";

pub fn judge(sources: &[Source]) -> Vec<Violation> {
    let code =
        |path: &str| sources.iter().find(|source| source.path == path).map(|source| code_only(&source.text));
    let catalog = code(CATALOG).unwrap_or_default();
    // What is imported is not yet listed.
    let listed: String = catalog.split(';').filter(|part| !part.trim_start().starts_with("use ")).collect();
    let mut violations = Vec::new();
    for source in sources {
        let Some(module) = module(&source.path) else { continue };
        let tools = tools(&code_only(&source.text));
        if tools.is_empty() {
            continue;
        }
        for (tool, entry) in tools.iter().filter(|(_, entry)| find_words(&listed, entry).is_none()) {
            let call = if entry == tool { "(…)" } else { " …)" };
            violations.push(Violation {
                place: source.path.clone(),
                wrong: format!("the tool {tool} is not in the catalog."),
                remedy: format!("Add `{entry}{call}` to {CATALOG}."),
            });
        }
        let (parents, name) = parents(module);
        let line = format!("mod {name};");
        let declared = |parent: &String| code(parent).is_some_and(|code| find_words(&code, &line).is_some());
        if !parents.iter().any(declared) {
            violations.push(Violation {
                place: source.path.clone(),
                wrong: "no module declares this file.".to_owned(),
                remedy: format!("Add `{line}` to {}.", parents.join(" or ")),
            });
        }
    }
    violations
}

/// The module path: `files/read_file` for `crates/tools/src/files/read_file.rs`.
fn module(path: &str) -> Option<&str> {
    let module = path.strip_prefix(ROOT)?.strip_suffix(".rs")?;
    let module = module.strip_suffix("/mod").unwrap_or(module);
    (module != "lib" && path != CATALOG).then_some(module)
}

/// The files that could declare a module, and the name in that declaration.
fn parents(module: &str) -> (Vec<String>, &str) {
    match module.rsplit_once('/') {
        None => (vec![format!("{ROOT}lib.rs")], module),
        Some((family, name)) => (vec![format!("{ROOT}{family}.rs"), format!("{ROOT}{family}/mod.rs")], name),
    }
}

/// The tools of a file, each with the words it is listed by: a tool is a type that implements `Tool`, or a
/// function that makes one.
fn tools(code: &str) -> Vec<(String, String)> {
    let named = |line: &str| {
        if let Some(function) = line.strip_prefix("pub fn ") {
            let name = name(function);
            return line.ends_with("-> NativeTool {").then(|| (name.clone(), name));
        }
        let after = line.starts_with("impl").then(|| find_words(line, "Tool for")).flatten()?;
        let name = name(line[after + "Tool for".len()..].trim_start());
        (!name.is_empty()).then(|| (name.clone(), format!("NativeTool::new({name}")))
    };
    code.lines().map(str::trim_start).filter_map(named).collect()
}

fn name(code: &str) -> String {
    code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::source;

    const TOOL: &str = "//! Reads.\nimpl Tool for ReadFile {}";

    #[track_caller]
    fn check(parent: &str, catalog: &str, expect: &[&str]) {
        let found = judge(&[
            source("crates/tools/src/files/read_file.rs", TOOL),
            source("crates/tools/src/files.rs", parent),
            source(CATALOG, catalog),
        ]);
        let remedies: Vec<_> = found.iter().map(|violation| violation.remedy.as_str()).collect();
        assert_eq!(remedies, expect);
    }

    const LIST_IT: &str = "Add `NativeTool::new(ReadFile …)` to crates/tools/src/catalog.rs.";
    const DECLARE_IT: &str =
        "Add `mod read_file;` to crates/tools/src/files.rs or crates/tools/src/files/mod.rs.";

    #[test]
    fn a_listed_tool_passes() {
        check("mod read_file;", "NativeTool::new(ReadFile)", &[]);
        check("pub(crate) mod read_file;", "NativeTool::new(ReadFile::new(settings)),", &[]);
    }

    #[test]
    fn an_unlisted_tool_is_named() {
        check("mod read_file;", "", &[LIST_IT]);
        check("mod read_file;", "// NativeTool::new(ReadFile)", &[LIST_IT]);
        check("mod read_file;", "NativeTool::new(ReadFileTree)", &[LIST_IT]);
        check("mod read_file;", "use crate::files::ReadFile;", &[LIST_IT]);
        check("mod read_files;", "NativeTool::new(ReadFile)", &[DECLARE_IT]);
        check("// mod read_file;", "", &[LIST_IT, DECLARE_IT]);
    }

    #[test]
    fn a_family_may_be_a_directory_with_its_own_file() {
        let found = judge(&[
            source("crates/tools/src/files/read_file.rs", TOOL),
            source("crates/tools/src/files/mod.rs", "pub mod read_file;"),
            source(CATALOG, "NativeTool::new(ReadFile)"),
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn only_tool_files_are_asked() {
        let found = judge(&[
            source("crates/tools/src/files/text.rs", "// impl Tool for Nobody\nimpl Display for Text {}"),
            source("crates/core/src/tool.rs", "impl Tool for Echo {}"),
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn a_qualified_trait_is_still_a_tool() {
        let names = |code| tools(code).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("impl tectum_core::Tool for A {}"), ["A"]);
        assert_eq!(names("impl<T> Tool for A<T> {}"), ["A"]);
        assert!(tools("impl ErasedTool for A {}").is_empty());
    }

    #[test]
    fn a_function_that_makes_a_tool_is_listed_too() {
        let remedies = |catalog: &str| {
            let tool =
                "pub fn edit_file(pen: Arc<Pen>) -> NativeTool {\n}\npub fn rows() -> Vec<NativeTool> {\n}";
            let found = judge(&[
                source("crates/tools/src/edit/edit_file.rs", tool),
                source("crates/tools/src/edit.rs", "mod edit_file;"),
                source(CATALOG, catalog),
            ]);
            found.into_iter().map(|violation| violation.remedy).collect::<Vec<_>>()
        };
        assert!(remedies("edit_file(pen.clone()),").is_empty());
        assert!(remedies("[edit_file, move_file].map(make)").is_empty());
        let list_it = ["Add `edit_file(…)` to crates/tools/src/catalog.rs."];
        assert_eq!(remedies("use crate::edit::edit_file;\nedit_files(pen)"), list_it);
    }
}
