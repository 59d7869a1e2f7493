//! What a program is given of this process's environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is passed on where it is set: who works here, in which language, and where tools keep their files. Keys and tokens
/// are not, nor is what makes a program load code.
const PASSED_ON: [&str; 12] = [
    "CARGO_HOME",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "RUSTUP_HOME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
];

/// A search path on which no program is found.
const NOWHERE: &str = "/dev/null";

/// The variables of a program that runs in the workspace with this root.
pub(super) fn variables(root: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let passed_on =
        PASSED_ON.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let own = [("PATH".into(), search_path(&path, root)), ("TERM".into(), "dumb".into())];
    passed_on.chain(own).collect()
}

/// Where programs are looked for: never in the workspace, where an agent could put one, and never relative to it.
fn search_path(path: &OsStr, root: &Path) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| {
        let real = folder.canonicalize();
        folder.is_absolute() && real.is_ok_and(|real| !real.starts_with(root))
    });
    // They come from such a list, so that they can be joined again.
    let folders = std::env::join_paths(folders).unwrap_or_default();
    // An empty list would mean the folder in which the program runs.
    if folders.is_empty() { NOWHERE.into() } else { folders }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_neither_in_the_workspace_nor_relative_to_it() {
        let root = Path::new("/usr").canonicalize().expect("it is there");
        let found = search_path(OsStr::new("/usr/bin:.:bin:/:/no-such-folder"), &root);
        assert_eq!(found, "/");
        assert_eq!(search_path(OsStr::new(""), &root), NOWHERE);
        assert_eq!(search_path(OsStr::new("/usr/bin:."), &root), NOWHERE);
    }
}
