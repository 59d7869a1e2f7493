//! The version that `--version` prints, which is that of the package with the tools.

use std::collections::BTreeMap;

use toolwright_core::tool::Definition;

/// Returns the version of the program. This is the version of the only package with tools, or of the package with the
/// program's name; otherwise the text lists every package with its version. `None` if no tool comes from a package.
pub(super) fn of<'a>(
    program: &str,
    definitions: impl Iterator<Item = &'a Definition>,
) -> Option<String> {
    let packages: BTreeMap<&str, &str> = definitions
        .map(|it| (it.location.package, it.location.version))
        .filter(|(package, _)| !package.is_empty())
        .collect();
    let is_only = packages.len() == 1;
    let mut named = packages.iter().filter(|(package, _)| is_only || **package == program);
    if let Some((_, version)) = named.next() {
        return Some((*version).to_owned());
    }
    let all: Vec<String> =
        packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
    (!all.is_empty()).then(|| format!("with tools of {}", all.join(", ")))
}
