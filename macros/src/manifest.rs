//! Finds the name by which the user's crate depends on the runtime, because its manifest may rename the dependency.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The packages to which generated code may refer: the facade, and the runtime, on which extensions depend. The library
/// of both packages is called `toolwright`.
const PACKAGES: [&str; 2] = ["toolwright", "toolwright-runtime"];

/// The manifest that was read last, and the name found in it. One is enough for a compiler, which reads only one
/// manifest; an editor's server may read several in turn.
static LAST: Mutex<Option<(PathBuf, Option<String>)>> = Mutex::new(None);

/// Returns the name by which the crate that is being compiled knows the runtime; `None` if its manifest does not rename
/// the runtime.
pub fn runtime_name() -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((read, name)) if *read == folder => name.clone(),
        _ => {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            let name = renamed_in(&text);
            *last = Some((folder, name.clone()));
            name
        }
    }
}

/// Finds `tw` in `tw = { package = "toolwright", … }`. Parses, line by line, the forms that people and cargo write. A
/// rename in any other form is not found.
fn renamed_in(manifest: &str) -> Option<String> {
    let (mut in_list, mut of_one, mut found) = (false, None, None);
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default().trim();
            in_list = section.ends_with("dependencies");
            of_one = section.rsplit_once('.').and_then(|(list, name)| {
                list.ends_with("dependencies").then(|| unquote(name).to_owned())
            });
            if of_one.as_deref().is_some_and(is_package) {
                return None;
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = unquote(key.split('.').next().unwrap_or_default());
        if in_list && is_package(key) {
            return None;
        }
        let renames = match &of_one {
            Some(_) => {
                key == "package" && is_package(unquote(value.split('#').next().unwrap_or_default()))
            }
            None => in_list && names_package(value),
        };
        if renames {
            found = of_one.clone().or_else(|| Some(key.to_owned()));
        }
    }
    found.map(|name| name.replace('-', "_"))
}

/// Returns whether an inline table contains `package = "toolwright"`.
fn names_package(table: &str) -> bool {
    table.trim_matches([' ', '{', '}']).split(',').any(|entry| match entry.split_once('=') {
        Some((key, value)) => key.trim() == "package" && is_package(unquote(value)),
        None => false,
    })
}

fn is_package(name: &str) -> bool {
    PACKAGES.contains(&name)
}

fn unquote(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::renamed_in;

    #[test]
    fn a_renamed_runtime_is_found_however_the_manifest_says_so() {
        for manifest in [
            "[dependencies]\nserde = \"1\"\nmy-tools = { version = \"1\", package = \"toolwright\" }",
            "[dev-dependencies]\nmy-tools = {package='toolwright'}",
            "[dependencies.my-tools]\nversion = \"1\"\npackage = \"toolwright\" # the runtime\n[features]\n",
            "[target.'cfg(unix)'.dependencies]\nmy-tools = { package = \"toolwright\", version = \"1\" }",
        ] {
            assert_eq!(renamed_in(manifest).as_deref(), Some("my_tools"), "{manifest}");
        }
    }

    #[test]
    fn a_runtime_with_its_own_name_is_left_alone() {
        for manifest in [
            "[dependencies]\ntoolwright = \"1\"",
            "[dependencies]\ntoolwright.workspace = true\nother = { package = \"toolwright\", version = \"0.1\" }",
            "[dependencies.toolwright]\nversion = \"1\"\n[dependencies.other]\npackage = \"toolwright\"",
            "[package]\nname = \"toolwright\"\n[dependencies]\nserde = { package = \"serde-toolwright\" }",
            "[package.metadata]\nmy = { package = \"toolwright\" }",
            "",
        ] {
            assert_eq!(renamed_in(manifest), None, "{manifest}");
        }
    }
}
