//! The problems that Python would report in a file: syntax errors, and the errors its compiler finds
//! after parsing, such as a `return` outside of a function.

use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, Keyword, Pattern, Stmt,
    visitor::{self, Visitor},
};
use ruff_python_parser::semantic_errors::SemanticSyntaxChecker;
use ruff_text_size::TextRange;

use super::{
    parse::with_tree,
    refusals::{self, Refused},
    scopes::{ScopePlace, Scopes},
    tabs,
};
use crate::{Problem, Span};

/// Problems told of one file. A file with more is broken from some place on, and the first say where.
const MOST_PROBLEMS: usize = 1_000;

/// The problems of a file, in the order of the text; none if Python would compile it. A text that
/// is too deep or too large to be parsed has exactly one, which says so.
pub fn check(text: &str) -> Vec<Problem> {
    let problems = with_tree(text, |parsed| {
        let mut problems: Vec<Problem> =
            parsed.errors().iter().map(|error| problem(error.location, error.error.to_string())).collect();
        let versions = parsed.unsupported_syntax_errors();
        problems.extend(versions.iter().map(|error| problem(error.range, error.to_string())));
        // A compiler looks at the meaning only of what it could parse.
        if problems.is_empty() {
            let rules = SemanticSyntaxChecker::new();
            let mut checker = Checker { rules, scopes: Scopes::new(text), refused: Vec::new() };
            checker.scopes.enter(ScopePlace::Module, &parsed.syntax().body);
            checker.visit_body(&parsed.syntax().body);
            problems.extend(checker.refused.into_iter().map(|(range, message)| problem(range, message)));
            let found = checker.scopes.found.into_inner();
            problems.extend(found.iter().map(|error| problem(error.range, error.to_string())));
            problems.extend(tabs::inconsistent(text));
        }
        problems
    });
    let mut problems = problems.unwrap_or_else(|refusal| vec![refusal]);
    problems.sort_by_key(|problem| problem.span);
    // Two rules may object to one thing; the first says enough.
    problems.dedup_by_key(|problem| problem.span);
    problems.truncate(MOST_PROBLEMS);
    problems
}

fn problem(range: TextRange, message: String) -> Problem {
    let span = Span { start: range.start().into(), end: range.end().into() };
    Problem { span, message }
}

/// Walks the tree, keeps the scopes, and asks the rules about every node.
struct Checker<'a> {
    rules: SemanticSyntaxChecker,
    scopes: Scopes<'a>,
    /// The problems that the compiler reports and the rules do not know.
    refused: Refused,
}

impl<'a> Checker<'a> {
    fn comprehension(&mut self, parts: &[&'a Expr], generators: &'a [Comprehension], lazy: bool) {
        // The first iterable is evaluated outside.
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let awaits = generators.iter().any(|generator| generator.is_async);
        self.scopes.enter(ScopePlace::Comprehension { lazy, awaits }, &[]);
        for (index, generator) in generators.iter().enumerate() {
            self.visit_expr(&generator.target);
            if index > 0 {
                self.visit_expr(&generator.iter);
            }
            generator.ifs.iter().for_each(|condition| self.visit_expr(condition));
        }
        parts.iter().for_each(|part| self.visit_expr(part));
        self.scopes.leave();
    }

    fn loop_body(&mut self, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let outer = self.scopes.set_loop(true);
        self.visit_body(body);
        self.scopes.set_loop(outer);
        self.visit_body(orelse);
    }
}

impl<'a> Visitor<'a> for Checker<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.rules.visit_stmt(stmt, &self.scopes);
        refusals::statement(stmt, &self.scopes, &mut self.refused);
        match stmt {
            // The target is read before it is written.
            Stmt::AugAssign(assign) if assign.target.is_attribute_expr() => {
                visitor::walk_expr(self, &assign.target);
                self.visit_expr(&assign.value);
            }
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                if let Some(parameters) = &function.type_params {
                    self.visit_type_params(parameters);
                }
                self.visit_parameters(&function.parameters);
                if let Some(returns) = &function.returns {
                    self.visit_annotation(returns);
                }
                self.scopes.enter(ScopePlace::Function(function), &function.body);
                self.visit_body(&function.body);
                self.scopes.leave();
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                if let Some(parameters) = &class.type_params {
                    self.visit_type_params(parameters);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.scopes.enter(ScopePlace::Class, &class.body);
                self.visit_body(&class.body);
                self.scopes.leave();
            }
            Stmt::For(repeat) => {
                self.visit_expr(&repeat.iter);
                self.visit_expr(&repeat.target);
                self.loop_body(&repeat.body, &repeat.orelse);
            }
            Stmt::While(repeat) => {
                self.visit_expr(&repeat.test);
                self.loop_body(&repeat.body, &repeat.orelse);
            }
            Stmt::Expr(statement) if statement.value.is_starred_expr() => {
                let message = "Starred expression cannot be used here";
                self.refused.push((statement.range, message.to_owned()));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
        self.scopes.saw(stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.rules.visit_expr(expr, &self.scopes);
        refusals::expression(expr, &mut self.refused);
        match expr {
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                }
                self.scopes.enter(ScopePlace::Lambda(lambda.parameters.as_deref()), &[]);
                self.visit_expr(&lambda.body);
                self.scopes.leave();
            }
            Expr::ListComp(list) => self.comprehension(&[&list.elt], &list.generators, false),
            Expr::SetComp(set) => self.comprehension(&[&set.elt], &set.generators, false),
            Expr::Generator(generator) => self.comprehension(&[&generator.elt], &generator.generators, true),
            Expr::DictComp(dict) => {
                let mut parts: Vec<&Expr> = dict.key.as_deref().into_iter().collect();
                parts.push(&dict.value);
                self.comprehension(&parts, &dict.generators, false);
            }
            Expr::Name(name) => {
                let declared = self.scopes.nonlocal(name.id.as_str());
                if declared.is_some_and(|declared| name.range.start() < declared.start()) {
                    let message = format!("name `{}` is used prior to nonlocal declaration", name.id);
                    self.refused.push((name.range, message));
                }
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        refusals::keyword(keyword, &mut self.refused);
        visitor::walk_keyword(self, keyword);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        refusals::pattern(pattern, &mut self.refused);
        visitor::walk_pattern(self, pattern);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        refusals::handler(handler, &self.scopes, &mut self.refused);
        visitor::walk_except_handler(self, handler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) {
        assert_eq!(check(text), [], "{text:?}");
    }

    fn refuses(text: &str, at: &str, message: &str) {
        let problems = check(text);
        let first = problems.first().unwrap_or_else(|| panic!("accepted: {text:?}"));
        assert!(first.message.contains(message), "{text:?}: {first:?}");
        assert_eq!(first.span.slice(text), at, "{text:?}: {first:?}");
    }

    #[test]
    fn accepts_what_python_accepts() {
        for text in [
            "",
            "x = 1\r\ny = 2\rz = 3",
            "def f[T: int](x: T) -> T: return x\ntype X[T] = list[T]\n",
            "x = f\"{d[\"a\"]}\" f'{f'{1}'}'\n",
            "match x:\n  case {'a': [b, *_]} if b: pass\n  case _: pass\n",
            "async def f():\n  async with a as b: await c\n  return [x async for x in y]\n",
            "def f():\n  x = 1\n  def g():\n    nonlocal x\n    x = 2\n",
            "class A:\n  def m(self):\n    nonlocal __class__\n",
            "for x in y:\n  if x: break\nelse: pass\n",
            "from __future__ import annotations\nimport os\n",
            "def f():\n  yield\n  lambda: (yield)\n",
            "try: pass\nexcept* E: pass\n",
            "match = print\na = 1; match(a)\n",
            "a = 1; match = 2; match[a], match -a; match\n",
            "def f():\n try: pass\n except* A:\n  for x in y: continue\n  def g(): return 1\n else: return\n",
            "x.__debug__ += 1\nf(x.__debug__)\n",
            "match x:\n  case 'a' 'b' | 1 | _: pass\n",
        ] {
            accepts(text);
        }
    }

    #[test]
    fn refuses_what_the_parser_refuses() {
        refuses("x = = 1", "=", "Expected an expression");
        refuses("def f(:\n  pass\n", ":", "Expected");
        refuses("1 = x", "1", "Invalid assignment target");
        refuses("'open", "'open", "missing closing quote");
        refuses("f(**a, *b)", "*b", "unpacking");
        refuses("if x:\npass\n", "pass", "indented block");
    }

    #[test]
    fn refuses_what_the_compiler_refuses() {
        refuses("return 1", "return 1", "`return` statement outside of a function");
        refuses("def f(a, a): pass", "a", "Duplicate parameter");
        refuses("def f(): await x", "await x", "asynchronous function");
        refuses("await x", "await x", "outside");
        refuses("nonlocal x", "nonlocal x", "nonlocal declaration not allowed at module level");
        refuses("def f():\n  nonlocal x", "x", "no binding for nonlocal `x` found");
        refuses("class A: yield 1", "yield 1", "`yield` statement outside of a function");
        refuses("break", "break", "outside");
        refuses("def f():\n  for x in y: pass\n  else: continue", "continue", "outside");
        refuses("*a = 1", "*a", "tarred");
        refuses("def f():\n  x = 1\n  global x", "x", "prior to global declaration");
        refuses("def f(x):\n  global x", "x", "global");
        refuses("def f(x):\n  def g():\n    x = 1\n    nonlocal x", "x", "prior to nonlocal declaration");
        refuses("*a", "*a", "Starred");
        refuses(
            "import os\nfrom __future__ import annotations",
            "from __future__ import annotations",
            "__future__",
        );
        refuses("def f():\n  from a import *", "from a import *", "import *");
        refuses("[(yield) for x in y]", "yield", "outside of a function");
        refuses("match x:\n  case a: pass\n  case b: pass", "a", "unreachable");
        refuses("f(a=1, a=2)", "a=2", "eyword argument");
        refuses("__debug__ = 1", "__debug__", "__debug__");
        refuses("x.__debug__ = 1", "x.__debug__", "cannot assign");
        refuses("f(__debug__=1)", "__debug__=1", "cannot assign");
        refuses("match x:\n  case A(__debug__=1): pass", "__debug__=1", "cannot assign");
        refuses("match x:\n  case 'b' f'a': pass", "'b' f'a'", "patterns may only match");
        refuses("match x:\n  case _ | 1: pass", "_", "wildcard");
        refuses("f'{*a}'", "*a", "Starred");
        refuses("try: pass\nexcept: pass\nexcept A: pass", "except: pass", "must be last");
        refuses("for x in y:\n try: pass\n except* A: continue", "continue", "`except*` block");
        refuses("def f():\n try: pass\n except* A:\n  for x in y: return", "return", "`except*` block");
        refuses("def f():\n x = 1\n def g():\n  nonlocal x\n  global x", "x", "nonlocal and global");
        refuses("def f():\n  def x(): pass\n  global x", "x", "before global declaration");
        refuses("def f():\n  try: pass\n  except E as x: pass\n  global x", "x", "before global declaration");
        refuses("def f():\n\tif 1:\n        pass\n", "        ", "tabs and spaces");
        refuses("a = 1; match x:\n  case _: pass", "match", "Compound");
    }

    #[test]
    fn tells_a_thing_once_and_in_order() {
        let problems = check("await x\nreturn\n");
        assert_eq!(problems.len(), 2);
        assert!(problems[0].span < problems[1].span);
        assert!(check(&"x y\n".repeat(5_000)).len() == MOST_PROBLEMS);
    }

    #[test]
    fn answers_at_any_depth() {
        // The most that is parsed, in every form that nests.
        let deep = 9_900;
        for text in [
            "-".repeat(deep) + "x",
            "not ".repeat(deep) + "x",
            "a+".repeat(deep) + "a",
            "a**".repeat(deep / 2) + "a",
            "lambda: ".repeat(deep / 2 - 10) + "0",
            "a if b else ".repeat(deep / 2 - 10) + "c",
            "a".to_owned() + &".b".repeat(deep),
            "a".to_owned() + &"()".repeat(deep),
            "f\"{".repeat(190) + "1" + &"}\"".repeat(190),
            "(".repeat(190) + "x" + &")".repeat(190),
            "[".to_owned() + &"-1, ".repeat(50_000) + "]",
            "'a' ".repeat(50_000),
        ] {
            accepts(&text);
        }
    }

    #[test]
    fn says_once_that_a_text_is_too_deep() {
        let many = 200_000;
        let blocks: String = (0..300).map(|level| " ".repeat(level) + "if x:\n").collect();
        for text in [
            "(".repeat(many),
            "f([{".repeat(many),
            "not ".repeat(many),
            "- ".repeat(many),
            "lambda a, b: ".repeat(many),
            "a if b else ".repeat(many),
            "a+".repeat(many),
            "a".to_owned() + &".b".repeat(many),
            "a".to_owned() + &"()".repeat(many),
            "f'{".repeat(many),
            "f'{(\n".repeat(many),
            "if x: ".repeat(many),
            "async ".repeat(many),
            blocks,
        ] {
            let problems = check(&text);
            assert_eq!(problems.len(), 1, "{:?}", &text[..20]);
            assert!(problems[0].message.starts_with("too "), "{problems:?}");
        }
    }

    #[test]
    fn survives_what_is_both_deep_and_broken() {
        let steps: String = (0..400).map(|level| " ".repeat(level) + "if x:\n").collect();
        for text in [
            "if x: ".repeat(4_000),
            "async ".repeat(9_000),
            "await ".repeat(9_000),
            "* ".repeat(9_000),
            format!("f(a b\n{steps})\n"),
            format!("f(a b\n f'{{(a b'\n {} '''{}", "-".repeat(9_000), "not ".repeat(9_000)),
        ] {
            assert!(!check(&text).is_empty());
        }
    }
}
