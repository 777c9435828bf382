//! `cargo xtask tidy`: the project's rules that a machine can check. Each rule is a pure function from
//! facts to violations; all violations are reported at once, and none is fixed.

mod catalog;
mod crate_tree;
mod cycles;
mod direction;
mod documented;
mod doors;
mod edges;
mod rust_text;
mod stubs;
mod type_names;
mod violation;

use anyhow::{Result, bail};

use self::{crate_tree::CrateTree, violation::Violation};
use crate::checkout::Checkout;

pub fn run(checkout: &Checkout) -> Result<()> {
    let sources = checkout.sources()?;
    let crates: Vec<CrateTree> =
        checkout.packages.iter().flat_map(|package| CrateTree::of_package(package, &sources)).collect();
    let violations: Vec<Violation> = [
        direction::judge(&checkout.packages),
        edges::judge(&checkout.packages),
        catalog::judge(&sources),
        documented::judge(&sources),
        doors::judge(&sources),
        stubs::judge(&sources),
        cycles::judge(&crates),
        type_names::judge(&crates),
    ]
    .into_iter()
    .flatten()
    .collect();

    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => {
            println!("Tidy: {} packages, {} Rust files.", checkout.packages.len(), sources.len());
            Ok(())
        }
        1 => bail!("Tidy found one violation."),
        count => bail!("Tidy found {count} violations."),
    }
}

#[cfg(test)]
mod testing {
    use super::violation::Violation;
    use crate::checkout::{Dependency, Kind, Package, Source};

    pub fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        let dependencies = dependencies.iter();
        Package {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            dependencies: dependencies
                .map(|&(name, kind)| Dependency { name: name.to_owned(), kind })
                .collect(),
        }
    }

    pub fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    pub fn places(violations: &[Violation]) -> Vec<&str> {
        violations.iter().map(|violation| violation.place.as_str()).collect()
    }
}
