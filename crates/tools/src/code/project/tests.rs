//! What is kept is bounded, and only what changed is looked at again.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde::Deserialize;
use tectum_core::{
    Call, Card, Effect, Gate, Payload, Reply, Rules, SessionId, Snapshot, Tectum, ToolRole, Wants, World,
    security::{Access, Allowlist, RawPath},
};
use tectum_native::{NativeSet, NativeTool};
use tectum_syntax::Packs;

use super::{Ahead, Defining, Entry, FileContent, MOST_TREES, Project, Reader, Sources};
use crate::{
    Settings,
    code::{Code, Only},
    edit::Pen,
};

#[derive(Deserialize, schemars::JsonSchema)]
struct Args {
    path: RawPath,
}

type Probe = Arc<Mutex<dyn FnMut(&Sources<'_>) + Send>>;
type ReadAhead = Arc<dyn Ahead + Send>;

/// A house with one tool that looks at the sources of a path.
fn house(root: &Path, code: &Arc<Code>, probe: Probe) -> Tectum {
    house_ahead(root, code, None, probe)
}

/// The same for a tool that has files read while they are listed.
fn house_ahead(root: &Path, code: &Arc<Code>, ahead: Option<ReadAhead>, probe: Probe) -> Tectum {
    const CARD: Card = Card {
        name: "probe",
        title: "Probe",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "path",
        deadline: Duration::from_secs(60),
        max_output: 1024,
        role: ToolRole::Usual,
    };
    let code = code.clone();
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    let tool = NativeTool::row(CARD, "", wants, move |ctx, _| {
        let sources = match &ahead {
            Some(ahead) => code.project.sources_ahead(&code.languages, ctx, 0, &**ahead)?,
            None => code.project.sources(&code.languages, ctx, 0)?,
        };
        probe.lock().expect("unbroken")(&sources);
        Ok(Reply::new("", ()))
    });
    let list = Allowlist::builder().base(root).build().expect("opens");
    Tectum::new(
        Snapshot::of(&[Arc::new(NativeSet::new(vec![tool]))]),
        Gate::new(Rules::default(), Arc::new(list)),
    )
}

async fn ask(house: &Tectum, path: &str) {
    let args = format!(r#"{{"path": "{path}"}}"#);
    let raw = serde_json::value::RawValue::from_string(args).expect("JSON");
    let outcome = house.call(Call::new(SessionId::new("test"), "probe", raw)).await;
    assert!(matches!(outcome.result, Ok(Payload::Native(_))), "{:?}", outcome.result);
}

fn code(project: Project) -> Arc<Code> {
    let settings = Settings::default();
    let mut code = Code::new(&settings, Arc::new(Pen::new(&settings)), Packs::all());
    code.project = project;
    Arc::new(code)
}

#[expect(clippy::disallowed_methods, reason = "the test makes the files that are looked at")]
fn write(root: &Path, name: &str, content: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    std::fs::write(path, content).expect("written");
}

#[tokio::test]
async fn facts_are_counted_and_the_oldest_go_first() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    for n in 0..40 {
        let body: String = (0..20).map(|m| format!("def function_{n}_{m}(): pass\n")).collect();
        write(dir.path(), &format!("{n:02}.py"), &body);
    }
    const MOST: usize = 50_000;
    let code = code(Project::bounded(true, MOST));
    let known = Arc::new(Mutex::new(Vec::new()));
    let (seen, ledger) = (known.clone(), code.project.ledger.clone());
    let probe: Probe = Arc::new(Mutex::new(move |sources: &Sources<'_>| {
        let left = sources.entries.iter().filter(|entry| entry.used().is_some()).count();
        sources.facts(&sources.entries, Only::Any, true).expect("facts");
        seen.lock().expect("unbroken").push((left, ledger.weight()));
    }));
    let house = house(dir.path(), &code, probe);
    for _ in 0..3 {
        ask(&house, ".").await;
    }
    let known = known.lock().expect("unbroken").clone();
    assert_eq!(known[0].0, 0);
    assert!(known[0].1 > MOST, "the test must go over the limit: {known:?}");
    assert!(known[1].0 > 0 && known[1].0 < 40, "some went before the second question: {known:?}");
    drop(house);
    let weight = code.project.ledger.weight();
    let kept: usize =
        code.project.trees.lock().iter().flat_map(|tree| tree.kept()).map(|(_, weight, _)| weight).sum();
    assert_eq!(weight, kept, "what is counted is what is kept");
    code.project.trees.lock().clear();
    assert_eq!(code.project.ledger.weight(), 0, "and everything is given back");
}

#[tokio::test]
async fn only_what_changed_becomes_another_version() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    for name in ["a.py", "b.py", "sub/c.py"] {
        write(dir.path(), name, "x = 1\n");
    }
    let code = code(Project::new(true));
    let versions = Arc::new(Mutex::new(Vec::new()));
    let seen = versions.clone();
    let probe: Probe = Arc::new(Mutex::new(move |sources: &Sources<'_>| {
        sources.each(&sources.entries, |_, _| Some(())).expect("read");
        let serials: Vec<u64> = sources.entries.iter().map(|entry| entry.serial).collect();
        seen.lock().expect("unbroken").push(serials);
    }));
    let house = house(dir.path(), &code, probe);
    ask(&house, ".").await;
    ask(&house, ".").await;
    write(dir.path(), "b.py", "x = 2\n");
    ask(&house, ".").await;
    let versions = versions.lock().expect("unbroken").clone();
    assert_eq!(versions[0], versions[1]);
    let changed: Vec<bool> = versions[1].iter().zip(&versions[2]).map(|(a, b)| a != b).collect();
    assert_eq!(changed, [false, true, false]);
}

#[tokio::test]
async fn trees_are_bounded_and_the_latest_stay() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    for n in 0..10 {
        write(dir.path(), &format!("{n}/a.py"), "x = 1\n");
    }
    let code = code(Project::new(true));
    let house = house(dir.path(), &code, Arc::new(Mutex::new(|_: &Sources<'_>| {})));
    for n in 0..10 {
        ask(&house, &n.to_string()).await;
        ask(&house, "0").await;
        assert!(code.project.trees.lock().len() <= MOST_TREES);
    }
    let first = code.project.trees.lock().last().cloned().expect("a tree");
    ask(&house, "0").await;
    let now = code.project.trees.lock().last().cloned().expect("a tree");
    assert!(Arc::ptr_eq(&first, &now), "what is asked for stays");
}

#[tokio::test]
async fn words_are_found_by_one_pass_or_by_many() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    write(dir.path(), "a.py", "alpha beta\n");
    write(dir.path(), "b.py", "gamma\n");
    write(dir.path(), "c.py", "nothing\n");
    let code = code(Project::new(true));
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = found.clone();
    let probe: Probe = Arc::new(Mutex::new(move |sources: &Sources<'_>| {
        let words = ["alpha", "gamma"];
        let holding = |words: &[&str]| sources.holding(words, Only::Any).expect("read");
        let standing = sources.standing(&sources.entries, &words).expect("read");
        for held in [holding(&words), standing, holding(&["delta"])] {
            let names = held.iter().map(|entry| entry.path.to_string_lossy().into_owned());
            seen.lock().expect("unbroken").push(names.collect::<Vec<_>>().join(" "));
        }
    }));
    let house = house(dir.path(), &code, probe);
    ask(&house, ".").await;
    write(dir.path(), "c.py", "gamma delta\n");
    ask(&house, ".").await;
    let found = found.lock().expect("unbroken").clone();
    assert_eq!(found, ["a.py b.py", "a.py b.py", "", "a.py b.py c.py", "a.py b.py c.py", "c.py"]);
}

/// The files whose facts are known when the listing is done, and those a question gets then: the
/// names of its functions, one for each file.
async fn read_ahead(root: &Path, watching: bool, ahead: Option<(usize, u64)>) -> (String, String) {
    let code = code(Project::new(watching));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let probe: Probe = Arc::new(Mutex::new(move |sources: &Sources<'_>| {
        let known = sources.entries.iter().filter(|entry| entry.used().is_some());
        let known: Vec<_> = known.map(|entry| entry.path.to_string_lossy().into_owned()).collect();
        let own = sources.entries.iter().filter(|entry| !entry.is_vendored());
        let (found, files) = sources.facts_of_first(own, 6, 100).expect("facts");
        let name = |(_, facts): &(_, Arc<super::SourceFacts>)| facts.name(&facts.symbols[0]).to_owned();
        let names: Vec<_> = found.iter().map(name).collect();
        told.lock().expect("unbroken").push((known.join(" "), format!("{files}: {}", names.join(" "))));
    }));
    let ahead = ahead.map(|(files, bytes)| Arc::new(Defining::new(files, bytes)) as ReadAhead);
    ask(&house_ahead(root, &code, ahead, probe), ".").await;
    let mut seen = seen.lock().expect("unbroken").clone();
    seen.pop().expect("asked once")
}

#[tokio::test]
#[cfg(feature = "languages")]
async fn what_is_read_ahead_is_what_would_be_read_afterwards() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let root = dir.path();
    for name in ["a", "b/c", "b/d", "e", "f", "g", "vendor/x"] {
        let function = name.replace('/', "_");
        write(root, &format!("{name}.py"), &format!("def {function}(): pass\n"));
    }
    write(root, "b/large.py", &format!("def large(): pass\n# {}\n", "long ".repeat(40)));
    write(root, "b/rules.rs", "fn rules() {}\n");
    write(root, "left/.gitignore", "out.py\n");
    write(root, "left/out.py", "def out(): pass\n");
    write(root, ".env", "def secret(): pass\n");
    std::fs::hard_link(root.join(".env"), root.join("b/alias.py")).expect("linked");
    // The protected alias counts as looked at and tells nothing; what is too large gives its
    // place to the next.
    let expect = "6: a b_c b_d rules e".to_owned();
    for watching in [true, false] {
        let (known, found) = read_ahead(root, watching, None).await;
        assert_eq!((known.as_str(), &found), ("", &expect));
        let (known, found) = read_ahead(root, watching, Some((100, 100))).await;
        assert_eq!((known.as_str(), &found), ("a.py b/c.py b/d.py e.py f.py g.py", &expect));
        let (known, found) = read_ahead(root, watching, Some((2, 100))).await;
        assert!(known.split(' ').count() <= 2, "{known}");
        assert_eq!(found, expect);
    }
}

/// Notes what it is shown of the files nobody looked at.
#[derive(Default)]
struct ShownFiles(Mutex<Vec<String>>);

impl Ahead for ShownFiles {
    fn most_bytes(&self) -> u64 {
        100
    }

    fn wants(&self, _: &Reader<'_>, entry: &Entry) -> bool {
        entry.is_new()
    }

    fn look(&self, _: &Reader<'_>, _: &Arc<Entry>, content: FileContent<'_>) -> Option<()> {
        self.0.lock().expect("unbroken").push(content.text()?.trim_end().to_owned());
        Some(())
    }
}

#[tokio::test]
async fn every_new_source_is_shown_once_while_it_is_listed() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let root = dir.path();
    // More of them than one thread is handed at a time.
    (0..40).for_each(|n| write(root, &format!("many/{n:02}.py"), &format!("m{n:02}\n")));
    write(root, "a.py", "a\n");
    write(root, "many/deep/b.py", "b\n");
    write(root, "large.py", &"long ".repeat(40));
    write(root, "notes.txt", "no source\n");
    write(root, "left/.gitignore", "out.py\n");
    write(root, "left/out.py", "out\n");
    write(root, ".hidden/c.py", "c\n");
    let mut expect: Vec<String> = (0..40).map(|n| format!("m{n:02}")).collect();
    expect.extend(["a", "b"].map(str::to_owned));
    expect.sort_unstable();
    let code = code(Project::new(true));
    let shown = Arc::new(ShownFiles::default());
    let house = house_ahead(root, &code, Some(shown.clone()), Arc::new(Mutex::new(|_: &Sources<'_>| {})));
    ask(&house, ".").await;
    shown.0.lock().expect("unbroken").sort_unstable();
    assert_eq!(*shown.0.lock().expect("unbroken"), expect);
    ask(&house, ".").await;
    assert_eq!(*shown.0.lock().expect("unbroken"), expect, "they are not listed again");
}
