//! Each feature of the facade is documented where a person looks for it.

use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The features that the manifest of the facade declares.
fn declared() -> BTreeSet<String> {
    let manifest: toml::Table = toml::from_str(&read("toolwright/Cargo.toml")).expect("a manifest");
    let features = manifest["features"].as_table().expect("features");
    features.keys().filter(|it| *it != "default").cloned().collect()
}

/// The features that the table below this header lists: what is in backticks in its first column.
fn listed(page: &str, header: &str) -> BTreeSet<String> {
    let rows = page.lines().skip_while(|it| !it.contains(header)).skip(2);
    let rows = rows.map_while(|row| row.trim_start_matches("//! ").strip_prefix("| `"));
    let columns = rows.filter_map(|row| row.split_once(" | ")).map(|(first, _)| first);
    columns.flat_map(|it| it.split('`').step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_docs_of_the_facade_list_its_features() {
    let page = read("toolwright/src/lib.rs");
    assert_eq!(listed(&page, "| feature | brings |"), declared());
}

#[test]
fn the_readme_lists_only_features_of_the_facade_and_each_of_an_extension() {
    let listed = listed(&read("README.md"), "| feature | what it brings |");
    let declared = declared();
    assert!(listed.is_subset(&declared), "{listed:?}");
    // The README leaves out features that only add conversions of types and errors, and the tests of stores.
    let left_out = ["chrono", "conformance", "jiff", "reqwest", "rusqlite", "url", "uuid"];
    let missing: Vec<_> = declared.difference(&listed).collect();
    assert_eq!(missing, left_out);
}
