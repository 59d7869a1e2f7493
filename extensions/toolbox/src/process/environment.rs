//! Selects the environment variables of this process that a program gets.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variables that are passed on if they are set: the user, the language, and where tools store their files. Keys
/// and tokens are not among them, and neither are variables that make a program load code.
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

/// A search path that contains no program.
const NOWHERE: &str = "/dev/null";

/// Returns the variables for a program that runs in the workspace with this root.
pub(super) fn variables(root: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let passed_on =
        PASSED_ON.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let own = [("PATH".into(), search_path(&path, root)), ("TERM".into(), "dumb".into())];
    passed_on.chain(own).collect()
}

/// Additional variables for a line that runs because it is rated safe. They disable programs that settings in a folder
/// could name, and side effects of programs that otherwise only read, such as writes and downloads.
///
/// For git these are the file system monitor, hooks, signature checks, bare repositories in a clone, and the download
/// of objects that a partial clone lacks. For rustup it is the download of a toolchain.
#[cfg(feature = "shell")]
pub(super) const SWITCHED_OFF: [(&str, &str); 20] = [
    ("GIT_CONFIG_COUNT", "4"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "log.showSignature"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_CONFIG_KEY_3", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_3", "explicit"),
    // Releases of git that ignore `GIT_NO_LAZY_FETCH` would download objects, so allow no transfer protocol at all.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    // `man` does not save formatted pages if their width differs from that of the terminal.
    ("MANWIDTH", "100"),
    ("PAGER", "cat"),
    ("GOTOOLCHAIN", "local"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("npm_config_logs_max", "0"),
    ("npm_config_update_notifier", "false"),
];

/// Returns the search path for programs without relative folders and without folders in the workspace, where an agent
/// could put a program.
fn search_path(path: &OsStr, root: &Path) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| {
        let real = folder.canonicalize();
        // A link in the workspace leads elsewhere now, and an agent could change where it leads.
        folder.is_absolute()
            && !folder.starts_with(root)
            && real.is_ok_and(|real| !real.starts_with(root))
    });
    // Joining cannot fail, since the folders were split from a search path.
    let folders = std::env::join_paths(folders).unwrap_or_default();
    // With an empty path, programs would be searched for in the folder in which the program runs.
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
        let workspace = tempfile::tempdir().expect("a folder");
        let root = workspace.path().canonicalize().expect("it is there");
        std::os::unix::fs::symlink("/usr/bin", root.join("bin")).expect("made");
        assert_eq!(search_path(root.join("bin").as_os_str(), &root), NOWHERE);
    }
}
