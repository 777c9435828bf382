//! Replays the calls in session.jsonl under the rules in settings.toml. Nothing is executed. Written by
//! `tectum replay --as-test`; it needs the crate `tectum` and nothing else.

#[test]
fn the_session_ends_as_recorded() {
    // `file!` begins at the workspace, which is the folder of the package or one above it.
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = package.ancestors().map(|above| above.join(file!())).find(|file| file.is_file());
    let folder = here.as_deref().and_then(std::path::Path::parent).expect("the folder of this test");
    let replayed = tectum::replay::folder(folder, "/home/somebody/project").expect("the calls and the rules");
    assert!(replayed.first().is_none(), "{replayed}");
}
