//! `code_move`: what it says about what it leaves behind, and what it takes along.

use serde_json::json;

use crate::edit_rig::Desk;

/// Moves, or only shows it, and gives the notes.
async fn notes(files: &[(&str, &str)], name: &str, dest: &str, dry_run: bool) -> (Desk, Vec<String>) {
    let desk = Desk::new();
    files.iter().for_each(|(path, content)| desk.put(path, content));
    let args = json!({"src_path": files[0].0, "dest_path": dest, "name": name, "dry_run": dry_run});
    let (_, data) = desk.works("code_move", args).await;
    let notes = data["notes"].as_array().expect("notes").iter();
    let notes = notes.map(|note| note.as_str().expect("a text").to_owned()).collect();
    (desk, notes)
}

#[tokio::test]
async fn files_that_still_use_it_are_told() {
    let files = [
        ("one.py", "def a(): return 1\ndef b(q): return q\n"),
        ("two.py", "from one import a\na()\n"),
        ("four.py", "import one\none.a()\n"),
        ("five.py", "def a(): return 2\na()\n"),
    ];
    let (_, told) = notes(&files, "a", "three.py", false).await;
    assert_eq!(
        told,
        [
            "Moved a from one.py to three.py",
            "Not fixed: four.py still uses a at line 2; import it there from three.py",
            "Not fixed: two.py still uses a at lines 1, 2; import it there from three.py",
        ]
    );
    let (_, told) = notes(&files, "a", "two.py", true).await;
    assert_eq!(
        told,
        [
            "Would move a from one.py to two.py",
            "Not fixed: four.py still uses a at line 2; import it there from two.py",
            "Not fixed: two.py knew a from elsewhere; look at its imports",
        ]
    );
    let method = [
        ("a.py", "class C:\n    def f(self): pass\n    def g(self): return self.f()\n"),
        ("b.py", "def h(c): return c.f()\n"),
    ];
    let (_, told) = notes(&method, "C.f", "new.py", true).await;
    assert_eq!(
        told,
        [
            "Would move C.f from a.py to new.py",
            "Not fixed: a.py still uses f at line 2; it is in new.py now",
            "Not fixed: b.py still uses f at line 1; it is in new.py now",
        ]
    );
    // Names of C are known to whoever is linked with them.
    let linked = [("a.c", "int f(void) { return 1; }\n"), ("b.c", "int g(void) { return f(); }\n")];
    let (_, told) = notes(&linked, "f", "c.c", false).await;
    assert_eq!(told, ["Moved f from a.c to c.c"]);
}

#[tokio::test]
async fn a_parameter_of_its_name_is_no_use() {
    let (_, told) = notes(&[("m.py", "def a(): return 1\ndef b(a): return a\n")], "a", "n.py", false).await;
    assert_eq!(told, ["Moved a from m.py to n.py"]);
    let (_, told) = notes(&[("m.py", "import os\ndef a(os): return os\nos.x\n")], "a", "n.py", false).await;
    assert_eq!(told, ["Moved a from m.py to n.py"]);
}

#[tokio::test]
async fn a_file_does_not_import_itself() {
    let core = "from . import util\nfrom .util import k\n\n\ndef a(): return util.k() + k()\n";
    let files = [("pkg/core.py", core), ("pkg/util.py", "def k(): return 1\n"), ("pkg/__init__.py", "")];
    let (desk, told) = notes(&files, "a", "pkg/util.py", false).await;
    assert_eq!(
        told,
        [
            "Moved a from pkg/core.py to pkg/util.py",
            "Not fixed: the moved code uses util, which pkg/core.py imports from pkg/util.py, where it is now; write there what it means",
        ]
    );
    let after = String::from_utf8(desk.get("pkg/util.py").expect("there")).expect("UTF-8");
    assert_eq!(after, "def k(): return 1\n\n\ndef a(): return util.k() + k()\n");
}
