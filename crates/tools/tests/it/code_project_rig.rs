//! A scratch project for the tools that look at all sources of a project.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tectum_core::{
    Card, Effect, Fault, Gate, Rules, Snapshot, Tectum, ToolRole, Wants, World,
    security::{Access, Allowlist, AllowlistBuilder, Durability},
};
use tectum_native::{NativeSet, NativeTool};
use tectum_syntax::Packs;
use tectum_tools::{
    Settings,
    code::{
        Code, Only,
        derive_code_path::{CodePathArgs, derive_code_path},
        hierarchy::{HierarchyArgs, hierarchy},
        repo_map::{RepoMapArgs, repo_map},
        usages::{UsagesArgs, usages},
    },
    edit::{Pen, edit_file, move_file, write_file},
};

use crate::files_rig::call;

/// The way a project is followed: watched, or its files compared by their stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Watch,
    Stamps,
}

/// Both ways of knowing what changed.
pub(crate) const BOTH: [By; 2] = [By::Watch, By::Stamps];

/// A project and the house over it.
pub(crate) struct Shop {
    dir: tempfile::TempDir,
    pub(crate) code: Arc<Code>,
    pub(crate) house: Tectum,
}

impl Shop {
    /// A project with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self::by(By::Watch, files)
    }

    pub(crate) fn by(by: By, files: &[(&str, &str)]) -> Self {
        Self::set(by, &Settings { durability: Durability::Rename, ..Settings::default() }, files)
    }

    pub(crate) fn set(by: By, settings: &Settings, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let pen = Arc::new(Pen::new(settings));
        let code = Code::new(settings, pen, Packs::all());
        let code = Arc::new(if by == By::Stamps { code.without_watch() } else { code });
        let house = house(&code, settings, Allowlist::builder().base(dir.path()), Rules::default());
        let shop = Self { dir, code, house };
        files.iter().for_each(|(path, content)| shop.write(path, content));
        shop
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "the test changes the files beside its tools")]
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<(String, Value), Fault> {
        call(&self.house, tool, args).await
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.unwrap_or_else(|fault| panic!("{}", fault.text())).0
    }

    pub(crate) async fn data(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap_or_else(|fault| panic!("{}", fault.text())).1
    }

    /// `path:line role` of every usage of a name.
    pub(crate) async fn places(&self, name: &str) -> Vec<String> {
        places(&self.house, name).await
    }
}

/// `path:line role` of every usage of a name in a house.
pub(crate) async fn places(house: &Tectum, name: &str) -> Vec<String> {
    let found = call(house, "usages", json!({"path": ".", "name": name})).await;
    let (_, data) = found.unwrap_or_else(|fault| panic!("{}", fault.text()));
    let place =
        |usage: &Value| format!("{}:{} {}", text(&usage["path"]), usage["line"], text(&usage["role"]));
    data["matches"].as_array().expect("a list").iter().map(place).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A house over these tools.
pub(crate) fn house(code: &Arc<Code>, settings: &Settings, list: AllowlistBuilder, rules: Rules) -> Tectum {
    let pen = Arc::new(Pen::new(settings));
    let [a, b, c, d, e] = [(); 5].map(|()| code.clone());
    let tools = vec![
        write_file(pen.clone()),
        edit_file(pen.clone()),
        move_file(pen),
        NativeTool::row(
            card("usages"),
            "",
            |args: &UsagesArgs| reads(&args.path),
            move |ctx, args| usages(&a, ctx, args, Only::Any),
        ),
        NativeTool::row(
            card("py_usages"),
            "",
            |args: &UsagesArgs| reads(&args.path),
            move |ctx, args| usages(&b, ctx, args, Only::One("python")),
        ),
        NativeTool::row(
            card("hierarchy"),
            "",
            |args: &HierarchyArgs| reads(&args.path),
            move |ctx, args| hierarchy(&c, ctx, args, Only::Any),
        ),
        NativeTool::row(
            card("calls"),
            "",
            |args: &CodePathArgs| reads(&args.path),
            move |ctx, args| derive_code_path(&d, ctx, args),
        ),
        NativeTool::row(
            card("map"),
            "",
            |args: &RepoMapArgs| reads(&args.path),
            move |ctx, args| repo_map(&e, ctx, args),
        ),
    ];
    let allowlist = Arc::new(list.build().expect("opens"));
    Tectum::new(Snapshot::of(&[Arc::new(NativeSet::new(tools))]), Gate::new(rules, allowlist))
}

fn reads(path: &tectum_core::security::RawPath) -> Wants {
    Wants::path(path, Access::Read)
}

const fn card(name: &'static str) -> Card {
    Card {
        name,
        title: name,
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "path",
        deadline: Duration::from_secs(60),
        max_output: 64 * 1024,
        role: ToolRole::Usual,
    }
}
