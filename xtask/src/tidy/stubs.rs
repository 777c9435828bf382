//! Nothing is left for later: no placeholder bodies, no test that does not run.

use super::rust_text::{attributes, code_only, line_of};
use super::violation::Violation;
use crate::checkout::Source;

const PLACEHOLDERS: [&str; 2] = ["todo!", "unimplemented!"];

pub fn judge(sources: &[Source]) -> Vec<Violation> {
    sources.iter().flat_map(judge_one).collect()
}

fn judge_one(source: &Source) -> Vec<Violation> {
    let code = code_only(&source.text);
    let mut violations = Vec::new();
    for placeholder in PLACEHOLDERS {
        for (at, _) in code.match_indices(placeholder) {
            violations.push(Violation {
                place: format!("{}:{}", source.path, line_of(&code, at)),
                wrong: format!("`{placeholder}` stands where code should."),
                remedy: "Write it, or remove what leads there.".to_owned(),
            });
        }
    }
    for (line, attribute) in attributes(&code) {
        let name = attribute.trim_start_matches(['[', ' ']);
        if name.split(|c: char| !c.is_alphanumeric() && c != '_').next() == Some("ignore") {
            violations.push(Violation {
                place: format!("{}:{line}", source.path),
                wrong: "this test is ignored.".to_owned(),
                remedy: "Make it run, or delete it.".to_owned(),
            });
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{places, source};

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(places(&judge(&[source("a.rs", text)])), expect);
    }

    #[test]
    fn stubs_are_named_with_their_line() {
        check("fn f() {\n    todo!()\n}", &["a.rs:2"]);
        check("fn f() { std::unimplemented!(\"soon\") }", &["a.rs:1"]);
        check("#[test]\n#[ignore]\nfn f() {}", &["a.rs:2"]);
        check("#[test]\n#[ignore = \"slow\"]\nfn f() { todo!(); }", &["a.rs:3", "a.rs:2"]);
    }

    #[test]
    fn words_about_them_pass() {
        check("// todo!() and #[ignore]\nlet s = \"unimplemented!()\";", &[]);
        check("mod todo;\nfn ignore() {}\n#[ignored_by_us]\nfn f() { todo != 1 }", &[]);
    }
}
