//! Files that change while a house is running.

use super::{super::context, *};
use crate::config::servers::survey::tests::Files;

fn names(resolved: &Resolved) -> Vec<&str> {
    resolved.specs.iter().map(|spec| spec.name.as_str()).collect()
}

#[test]
fn a_broken_file_keeps_what_it_had() {
    let files = Files::new(&[
        ("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n"),
        ("home/config/mcp_config.json", "{\"mcpServers\":{\"b\":{\"command\":\"x\"}}}"),
    ]);
    let mut live = Live::new(files.sources.clone());
    assert_eq!(names(&live.specs()), ["a", "b"]);
    files.write("home/config/mcp_config.json", "{\"mcpServers\":{");
    let resolved = live.specs();
    assert_eq!(names(&resolved), ["a", "b"]);
    assert!(resolved.notes[0].ends_with("its servers stay unchanged"), "{:?}", resolved.notes);
    files.write("home/config/tectum.toml", "[servers.a]\ncommand = ");
    let resolved = live.specs();
    assert_eq!(names(&resolved), ["a", "b"]);
    assert!(resolved.notes[0].ends_with("the last valid settings stay in effect"), "{:?}", resolved.notes);
    files.write("home/config/tectum.toml", "[servers.c]\ncommand = \"x\"\n");
    files.write("home/config/mcp_config.json", "{}");
    assert_eq!(names(&live.specs()), ["c"]);
}

#[test]
fn a_file_that_is_broken_at_the_start_is_held() {
    let files = Files::new(&[
        ("project/.mcp.json", "{"),
        ("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n"),
    ]);
    let resolved = Live::new(files.sources.clone()).specs();
    assert_eq!(names(&resolved), ["a"]);
    assert_eq!(resolved.held[0].name, ".mcp.json");
    assert!(resolved.notes[0].starts_with(".mcp.json:1:2: this is not JSON"), "{:?}", resolved.notes);
}

#[test]
fn every_file_that_matters_is_noticed() {
    let files = Files::new(&[("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n")]);
    let mut live = Live::new(files.sources.clone());
    for (path, text) in [
        ("home/config/tectum.toml", "[servers.b]\ncommand = \"x\"\n"),
        ("project/tectum.toml", "[log]\nlevel = \"error\"\n"),
        ("project/.mcp.json", "{\"mcpServers\":{\"p\":{\"command\":\"x\",\"envFile\":\"v.env\"}}}"),
        ("project/v.env", "A=b\n"),
        ("project/mcp_config.json", "{}"),
        ("home/config/mcp_config.json", "{}"),
        ("home/state/trust.json", "{}"),
        ("home/state/servers.json", "{}"),
        ("home/state/inputs.json", "{}"),
    ] {
        live.specs();
        assert!(!live.is_stale(), "{path}");
        files.write(path, text);
        assert!(live.is_stale(), "{path}");
    }
}

#[test]
fn settings_that_are_broken_at_the_start_are_noticed_when_they_are_mended() {
    let files = Files::new(&[("home/config/tectum.toml", "[servers.a")]);
    let mut live = Live::new(files.sources.clone());
    let resolved = live.specs();
    assert!(resolved.specs.is_empty() && !resolved.notes.is_empty(), "{:?}", resolved.notes);
    files.write("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n");
    assert!(live.is_stale());
    assert_eq!(names(&live.specs()), ["a"]);
}

#[test]
fn another_number_is_another_server() {
    let files = Files::new(&[("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n")]);
    let state = files.sources.state.clone().expect("there");
    let mut live = Live::new(files.sources.clone());
    let first = live.specs().specs.remove(0);
    context::keep(&state, &context::generations_file(&state), |table| {
        table.insert("a".into(), 1_u64);
    })
    .expect("kept");
    let second = live.specs().specs.remove(0);
    assert_eq!((first.generation, second.generation), (0, 1));
    assert_ne!(first, second);
}

#[test]
fn only_what_may_require_a_server_is_read_before_anybody_is_served() {
    for (file, text, expect) in [
        ("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\n", false),
        ("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\nrequired = false\n", false),
        ("home/config/tectum.toml", "[servers.a]\ncommand = \"x\"\nrequired = true\n", true),
        ("home/config/tectum.toml", "[servers.a]\nrequired = true\n", true),
        ("project/.mcp.json", "{}", true),
    ] {
        let files = Files::new(&[(file, text)]);
        let config = files.sources.load().expect("settings");
        assert_eq!(may_require(&config), expect, "{file}: {text}");
    }
}
