//! The problems found in Python beside those of its own compiler, where there is one to ask.

use std::{io::Write, process::Stdio};

/// The exit code of an interpreter that is too old to be asked.
const TOO_OLD: i32 = 3;

/// Tells of each text, apart by NUL, whether it compiles.
const ASK: &str = "import sys, warnings
warnings.simplefilter('ignore')
if sys.version_info < (3, 11):
    sys.exit(3)
for text in sys.stdin.buffer.read().decode().split('\\0'):
    try:
        compile(text, 'text', 'exec')
        print('yes')
    except (SyntaxError, ValueError):
        print('no')
";

/// Texts about which every version since 3.11 says the same.
const TEXTS: [&str; 44] = [
    "match = print\na = 1; match(a)",
    "a = 1; match = 2; match",
    "a = 1; match -a",
    "a = 1; match x:\n  case _: pass",
    "if 1: match(a)",
    "def f():\n\tif 1:\n        pass\n",
    "if 1:\n        x\n\ty\n",
    "if 1:\n\tif 2:\n\t    y\n",
    "if 1:\n    x\n\t# c\n    y",
    "try: pass\nexcept: pass\nexcept A: pass",
    "try: pass\nexcept A: pass\nexcept: pass",
    "for x in y:\n try: pass\n except* A: continue",
    "for x in y:\n try: pass\n except* A:\n  for z in y: pass\n  else: break",
    "def f():\n try: pass\n except* A:\n  for x in y: continue",
    "def f():\n try: pass\n except* A:\n  for x in y: return",
    "def f():\n try: pass\n except* A:\n  def g(): return 1",
    "def f():\n try: pass\n except* A: pass\n else: return",
    "def f():\n x = 1\n def g():\n  nonlocal x\n  global x",
    "def f():\n x = 1\n def g():\n  global x\n  nonlocal x",
    "def f():\n  def x(): pass\n  global x",
    "def f():\n  class x: pass\n  global x",
    "def f():\n  global x\n  def x(): pass",
    "def f():\n  import x\n  global x",
    "def f():\n  try: pass\n  except E as x: pass\n  global x",
    "x.__debug__ = 1",
    "f(__debug__=1)",
    "class A(__debug__=1): pass",
    "x.__debug__",
    "f(x.__debug__)",
    "for x.__debug__ in y: pass",
    "x.__debug__: int",
    "match x:\n  case A(__debug__=1): pass",
    "match x:\n  case f'a': pass",
    "match x:\n  case 'b' f'a': pass",
    "match x:\n  case f'a' | 1: pass",
    "match x:\n  case 'b' 'a': pass",
    "match x:\n  case _ | 1: pass",
    "match x:\n  case 1 | _: pass",
    "match x:\n  case a | 1: pass",
    "f'{*a}'",
    "f'{*a,}'",
    "x = *a",
    "x[*a]",
    "def f(*args: *x): pass",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "the compiler is asked where there is one")]
fn python_is_refused_as_its_compiler_refuses_it() {
    let asked = std::process::Command::new("python3")
        .args(["-c", ASK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut python) = asked else { return };
    let mut input = python.stdin.take().expect("a pipe");
    let written = input.write_all(TEXTS.join("\0").as_bytes());
    drop(input);
    let answer = python.wait_with_output().expect("an end");
    if answer.status.code() == Some(TOO_OLD) {
        return;
    }
    written.expect("written");
    let answer = String::from_utf8(answer.stdout).expect("UTF-8");
    let answers: Vec<&str> = answer.lines().collect();
    assert_eq!(answers.len(), TEXTS.len(), "{answer}");
    for (text, compiles) in TEXTS.iter().zip(answers) {
        let problems = tectum_syntax::python::check(text);
        assert_eq!(problems.is_empty(), compiles == "yes", "{text:?}: {problems:?}");
    }
}
