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

/// What a line gets that runs because it is safe: programs that the settings of a folder name are switched off, and so is
/// what a program that only reads would write or fetch beside.
///
/// Of git these are a monitor of files, hooks, the check of signatures, repositories without `.git`, which a clone may bring
/// along, and the fetch of what a partial clone lacks. Of rustup it is the fetch of a toolchain.
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
    // A release that does not know the next one fetches by no protocol.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    // With another width than that of a terminal, man keeps no page that it has formatted.
    ("MANWIDTH", "100"),
    ("PAGER", "cat"),
    ("GOTOOLCHAIN", "local"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("npm_config_logs_max", "0"),
    ("npm_config_update_notifier", "false"),
];

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
