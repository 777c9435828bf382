//! Toolchain proxies: `rust-analyzer`, `cargo` and `rustc` may all be rustup, which starts the
//! toolchain that a project's own files choose. What it would start is asked and judged once, and
//! from then on nothing of the project chooses again.

use std::{
    ffi::OsString,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tectum_child::{Confinement, Installed};

use crate::run::{Leash, Order, run};

/// The time rustup may take to say what it would start.
const PATIENCE: Duration = Duration::from_secs(5);
/// The answer is one path.
const ANSWER: usize = 16 * 1024;
/// Variables that say where rustup and its toolchains are.
const PLACES: &[&str] = &["HOME", "RUSTUP_HOME", "CARGO_HOME"];

/// A server, and the variables that keep it and all it starts with one toolchain.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    pub(super) program: PathBuf,
    pub(super) env: Vec<(&'static str, String)>,
}

/// The toolchain for a Rust server in this directory, or why there is none.
pub(super) fn fixed(program: &Path, directory: &Path, installed: &Installed) -> Result<Fixed, String> {
    let program = match proxied_by(program) {
        Some(rustup) => picked(&rustup, "rust-analyzer", directory, installed)?,
        None => program.to_owned(),
    };
    let mut env = Vec::new();
    if let Ok(cargo) = installed.find("cargo") {
        let cargo = match proxied_by(&cargo) {
            Some(rustup) => {
                let cargo = picked(&rustup, "cargo", directory, installed)?;
                let toolchain = cargo.ancestors().nth(2).unwrap_or(&cargo).to_string_lossy().into_owned();
                env.push(("RUSTUP_TOOLCHAIN", toolchain));
                cargo
            }
            None => cargo,
        };
        // A compiler that the project's own configuration of cargo names gives way to this one.
        let rustc = cargo.with_file_name("rustc");
        env.extend(rustc.is_file().then(|| ("RUSTC", rustc.to_string_lossy().into_owned())));
        env.push(("CARGO", cargo.to_string_lossy().into_owned()));
    }
    Ok(Fixed { program, env })
}

/// The rustup that a program is a link to, under either kind of link.
fn proxied_by(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    if real.file_name()? == "rustup" {
        return Some(real);
    }
    let beside = real.with_file_name("rustup");
    let (one, other) = (real.metadata().ok()?, beside.metadata().ok()?);
    ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(beside)
}

/// The program that rustup would start for a name in a directory.
fn picked(rustup: &Path, name: &str, directory: &Path, installed: &Installed) -> Result<PathBuf, String> {
    let mut environment: Vec<(OsString, OsString)> =
        PLACES.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect();
    environment.push(("PATH".into(), installed.path().into()));
    environment.push(("RUSTUP_AUTO_INSTALL".into(), "0".into()));
    let order = Order {
        program: rustup.as_os_str(),
        args: ["which", name].map(OsString::from).to_vec(),
        folder: directory,
        environment,
        confinement: &Confinement::none(),
    };
    let leash = Leash { who: "rustup", slow: "ask again", stop: &|| false, until: Instant::now() + PATIENCE };
    let ran =
        run(&order, &leash, ANSWER).map_err(|fault| format!("rustup was not asked: {}", fault.message))?;
    if !ran.success {
        let why = ran.err.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
        return Err(format!("rustup has no {name} for this project: {}", why.trim()));
    }
    let file = PathBuf::from(String::from_utf8_lossy(&ran.out).trim_end_matches('\n'));
    if file.is_absolute() && installed.is_apart(&file) {
        return Ok(file);
    }
    Err(format!(
        "rustup would start {}, which belongs to the served project (its rust-toolchain.toml, an override or \
         a linked toolchain says so), and a project's own programs are never started",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the test makes the programs it judges")]
    fn script(file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("written");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("set");
    }

    #[test]
    fn what_a_proxy_would_start_is_judged() {
        let scratch = tempfile::tempdir().expect("a directory");
        let top = scratch.path().canonicalize().expect("its true name");
        let [bin, project] = ["bin", "project"].map(|name| top.join(name));
        // It answers as rustup does where a project chooses: with a file below the working directory.
        script(&bin.join("rustup"), "echo \"$(cat choice)/bin/$2\"");
        for name in ["rust-analyzer", "cargo"] {
            symlink("rustup", bin.join(name)).expect("linked");
        }
        for folder in [project.join("own"), top.join("good")] {
            for name in ["rust-analyzer", "cargo", "rustc"] {
                script(&folder.join("bin").join(name), "");
            }
        }
        symlink(project.join("own"), top.join("linked")).expect("linked");
        let installed = Installed::apart_from(std::slice::from_ref(&project));
        let chosen = |toolchain: &Path| {
            choose(&project, toolchain);
            picked(&bin.join("rustup"), "rust-analyzer", &project, &installed)
        };
        let good = top.join("good/bin/rust-analyzer");
        assert_eq!(chosen(&top.join("good")), Ok(good));
        for toolchain in [project.join("own"), top.join("linked")] {
            let why = chosen(&toolchain).expect_err("refused");
            assert!(why.contains("belongs to the served project"), "{why}");
        }
        assert_eq!(proxied_by(&bin.join("cargo")), Some(bin.join("rustup")));
        assert_eq!(proxied_by(&top.join("good/bin/cargo")), None);
    }

    #[expect(clippy::disallowed_methods, reason = "the test writes what its own program reads")]
    fn choose(project: &Path, toolchain: &Path) {
        std::fs::write(project.join("choice"), toolchain.to_str().expect("text")).expect("written");
    }
}
