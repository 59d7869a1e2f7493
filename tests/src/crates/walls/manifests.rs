//! What a crate depends on, by its manifest and by ARCHITECTURE.md.

/// A crate by its manifest.
pub struct Manifest {
    pub name: String,
    /// Direct dependencies, optional ones too, in the order of their names.
    pub dependencies: Vec<String>,
}

impl Manifest {
    pub fn of(text: &str) -> Self {
        let manifest: toml::Table = toml::from_str(text).expect("a manifest");
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        let table = manifest["dependencies"].as_table().expect("dependencies");
        let mut dependencies: Vec<String> = table.keys().cloned().collect();
        dependencies.sort();
        Self { name, dependencies }
    }
}

/// The dependencies that the table of crates lists for this one, in the order of their names.
pub fn listed(architecture: &str, name: &str) -> Vec<String> {
    let start = format!("| `{name}` |");
    let row = architecture
        .lines()
        .find(|line| line.starts_with(&start))
        .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row of {name}"));
    let last = row.trim_end_matches('|').rsplit('|').next().expect("a last column");
    let mut listed: Vec<String> = last.split(',').map(|it| it.trim().to_owned()).collect();
    listed.sort();
    listed
}
