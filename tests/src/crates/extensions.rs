//! Extensions stand between the runtime and the facade: they name the runtime and no crate below it, and nothing below it names
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::walls::WALLS;
use super::walls::manifests::{Manifest, listed};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manifests of the extensions.
fn extensions() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("extensions")).expect("a folder");
    let manifests = folders.map(|folder| folder.expect("a folder").path().join("Cargo.toml"));
    let manifests: Vec<String> = manifests.filter(|it| it.exists()).map(read).collect();
    assert!(!manifests.is_empty());
    manifests
}

/// Every crate that a manifest names, of every kind and for every platform, whatever it calls it.
fn named(manifest: &str) -> BTreeSet<String> {
    fn tables(table: &toml::Table, named: &mut BTreeSet<String>) {
        for (key, value) in table {
            let Some(inner) = value.as_table() else { continue };
            if key.ends_with("dependencies") {
                named.extend(inner.iter().map(|(name, value)| {
                    let package = value.get("package").and_then(toml::Value::as_str);
                    package.unwrap_or(name).to_owned()
                }));
            } else {
                tables(inner, named);
            }
        }
    }
    let mut named = BTreeSet::new();
    tables(&toml::from_str(manifest).expect("a manifest"), &mut named);
    named
}

/// What is wrong with a manifest of an extension.
fn problems(manifest: &str, extensions: &[String]) -> Vec<String> {
    let name = Manifest::of(manifest).name;
    let named = named(manifest);
    let ours = named.iter().filter(|it| it.starts_with("toolwright"));
    let wrong = ours.filter(|it| *it != "toolwright-runtime" && !extensions.contains(it));
    let wrong = wrong.map(|it| format!("{name} must not depend on {it}"));
    let without =
        (!named.contains("toolwright-runtime")).then(|| format!("{name} does without the runtime"));
    wrong.chain(without).collect()
}

#[test]
fn extensions_depend_on_the_runtime_and_on_no_crate_below_it() {
    let manifests = extensions();
    let names: Vec<String> = manifests.iter().map(|it| Manifest::of(it).name).collect();
    let problems: Vec<String> = manifests.iter().flat_map(|it| problems(it, &names)).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn nothing_below_an_extension_depends_on_one() {
    let extensions: Vec<String> = extensions().iter().map(|it| Manifest::of(it).name).collect();
    let folders = WALLS.iter().map(|(_, folder, _)| *folder).chain(["macros", "runtime"]);
    for folder in folders {
        let named = named(&read(format!("{folder}/Cargo.toml")));
        let wrong: Vec<&String> = extensions.iter().filter(|it| named.contains(*it)).collect();
        assert!(wrong.is_empty(), "{folder} depends on {wrong:?}");
    }
}

#[test]
fn what_each_extension_depends_on_stands_in_the_architecture() {
    let architecture = read("ARCHITECTURE.md");
    for manifest in extensions().iter().map(|it| Manifest::of(it)) {
        assert_eq!(
            listed(&architecture, &manifest.name),
            manifest.dependencies,
            "{}",
            manifest.name
        );
    }
}

#[test]
fn a_dependency_past_the_runtime_is_found_wherever_it_stands() {
    let manifest = "[package]\nname = \"it\"\n[dependencies]\ntoolwright-runtime = \"1\"\ntoolwright-toolbox = \"1\"\n";
    let extensions = ["toolwright-toolbox".to_owned()];
    assert_eq!(problems(manifest, &extensions), [""; 0]);
    for past in [
        "toolwright-core = \"1\"\n",
        "core = { package = \"toolwright-core\", version = \"1\" }\n",
        "[dev-dependencies]\ntoolwright-core = { path = \"..\" }\n",
        "[build-dependencies.toolwright-core]\nversion = \"1\"\n",
        "[target.'cfg(unix)'.dependencies]\ntoolwright-core = \"1\"\n",
    ] {
        let found = problems(&format!("{manifest}{past}"), &extensions);
        assert_eq!(found, ["it must not depend on toolwright-core"], "{past}");
    }
    let without = problems("[package]\nname = \"it\"\n[dependencies]\n", &extensions);
    assert_eq!(without, ["it does without the runtime"]);
}
