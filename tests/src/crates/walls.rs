//! The walls of the house: which crate may know which, and how large a cycle of files may grow within one.

pub mod files;
pub mod manifests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::files::Files;
use self::manifests::{Manifest, listed};

/// Each crate of the runtime: its folder, and the crates of the house that it may depend on.
pub const WALLS: [(&str, &str, &[&str]); 9] = [
    ("toolwright-core", "runtime/core", &["toolwright-macros"]),
    ("toolwright-schema", "runtime/schema", &["toolwright-core"]),
    ("toolwright-wire", "runtime/wire", &["toolwright-core"]),
    ("toolwright-policy", "runtime/policy", &["toolwright-core"]),
    ("toolwright-journal", "runtime/journal", &["toolwright-core"]),
    (
        "toolwright-executor",
        "runtime/executor",
        &[
            "toolwright-core",
            "toolwright-journal",
            "toolwright-policy",
            "toolwright-schema",
            "toolwright-wire",
        ],
    ),
    (
        "toolwright-cli",
        "runtime/cli",
        &[
            "toolwright-core",
            "toolwright-executor",
            "toolwright-journal",
            "toolwright-policy",
            "toolwright-schema",
            "toolwright-wire",
        ],
    ),
    ("toolwright-sqlite", "runtime/stores/sqlite", &["toolwright-core", "toolwright-journal"]),
    (
        "toolwright-store-tests",
        "runtime/stores/conformance",
        &["toolwright-core", "toolwright-journal"],
    ),
];

/// A cycle of files of more than so many is a tangle.
const LARGEST_CYCLE: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn inner_crates_depend_only_on_crates_below_them() {
    let allowed: BTreeSet<&str> = WALLS.iter().map(|(name, ..)| *name).collect();
    for (index, (name, folder, below)) in WALLS.iter().enumerate() {
        for crate_below in *below {
            let earlier = WALLS[..index].iter().any(|(earlier, ..)| earlier == crate_below);
            assert!(earlier || *crate_below == "toolwright-macros", "{name} above {crate_below}");
        }
        let manifest = Manifest::of(&read(format!("{folder}/Cargo.toml")));
        assert_eq!(manifest.name, *name);
        for dependency in manifest.dependencies.iter().filter(|it| it.starts_with("toolwright")) {
            assert!(below.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
        let first = read(format!("{folder}/src/lib.rs"));
        assert!(
            first.starts_with("//! Part of `toolwright`"),
            "{name} does not say what it is part of"
        );
        assert!(allowed.contains(name));
    }
}

#[test]
fn the_versions_of_inner_crates_are_pinned() {
    let workspace: toml::Table = toml::from_str(&read("Cargo.toml")).expect("TOML");
    let dependencies = workspace["workspace"]["dependencies"].as_table().expect("a table");
    for (name, ..) in WALLS {
        let version = dependencies[name]["version"].as_str().expect("a version");
        assert!(version.starts_with('='), "{name} is {version}");
    }
}

#[test]
fn what_each_crate_depends_on_stands_in_the_architecture() {
    let architecture = read("ARCHITECTURE.md");
    for (name, folder, _) in WALLS {
        let manifest = Manifest::of(&read(format!("{folder}/Cargo.toml")));
        assert_eq!(listed(&architecture, name), manifest.dependencies, "{name}");
    }
}

#[test]
fn no_cycle_of_files_within_a_crate_is_larger_than_eight() {
    for (name, folder, _) in WALLS {
        let files = Files::of(&root().join(folder).join("src"));
        for cycle in files.cycles() {
            assert!(
                cycle.len() <= LARGEST_CYCLE,
                "{name} has a cycle of {}: {cycle:?}",
                cycle.len()
            );
        }
    }
}

#[test]
fn no_message_of_the_compiler_names_an_inner_crate() {
    let mut folders = vec![root().join("ui-tests/cases")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "stderr") {
                let text = std::fs::read_to_string(&path).expect("text");
                for (name, ..) in WALLS {
                    let name = name.replace('-', "_");
                    assert!(!text.contains(&name), "{} names {name}", path.display());
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "only {seen} messages were looked at");
}

#[test]
fn a_cycle_of_files_is_found() {
    let files = Files::of_texts(&[
        ("lib", "mod a; mod b; mod c; pub use a::A;"),
        ("a", "use crate::b::B; pub struct A(B);"),
        ("b", "pub struct B; fn f() { super::c::g(); }"),
        ("c", "use crate::A; pub fn g() {}"),
    ]);
    let cycles = files.cycles();
    assert_eq!(cycles, [["a", "b", "c"]]);
}
