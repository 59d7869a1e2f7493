//! Locates the change log of a folder, and the parts of a user's home folder that are hidden from an agent's programs.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The file name of a log. A log's path repeats names of folders, so this is a name that a folder is unlikely to have.
const FILE: &str = "changes@toolwright.db";

/// The parts of a home folder that no program of an agent needs, because they may hold secrets.
const SECRETS: [&str; 8] =
    [".aws", ".config/gh", ".docker", ".git-credentials", ".gnupg", ".kube", ".netrc", ".ssh"];

/// Returns the path of the change log for a folder, which is given by its real path. Each folder has its own log. The
/// log's path below the user's state folder repeats the folder's path: the log of `/home/ada/shop` is
/// `~/.local/state/toolwright/home/ada/shop/changes@toolwright.db`.
pub(super) fn log_of(folder: &Path) -> Result<PathBuf, String> {
    let state = state_folder(|name| env::var_os(name).map(PathBuf::from)).ok_or_else(|| {
        "found neither XDG_STATE_HOME nor HOME with an absolute path, expected one of them: the log of changes is \
         written below it; set one, or name a file by `CodingTools::log`"
            .to_owned()
    })?;
    let parts = folder.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    Ok(state.join(parts.collect::<PathBuf>()).join(FILE))
}

/// Creates the folder of the log. Programs must not reach the log, so it may not be inside the workspace. It may not be
/// in a folder that contains the workspace either, because a sandbox that hides the folder of the log would hide the
/// workspace as well.
pub(super) fn prepare(log: PathBuf, folder: &Path) -> Result<PathBuf, String> {
    let beside = log.parent().ok_or_else(|| format!("`{}` names no file", log.display()))?;
    fs::create_dir_all(beside)
        .map_err(|error| format!("its folder `{}` cannot be made: {error}", beside.display()))?;
    let real = beside
        .canonicalize()
        .map_err(|error| format!("its folder `{}` cannot be opened: {error}", beside.display()))?;
    if real.starts_with(folder) || folder.starts_with(&real) {
        return Err(format!(
            "it lies in `{}`, and the folder that is worked in is `{}`: neither may contain the other; name a file in \
             a folder of its own by `CodingTools::log`",
            real.display(),
            folder.display()
        ));
    }
    Ok(log)
}

/// Returns the paths that are hidden from programs, if they exist: keys in the home folder, and the folder that contains
/// the change logs of all folders.
pub(super) fn secrets() -> impl Iterator<Item = PathBuf> {
    let home = env::home_dir().unwrap_or_default();
    let logs = state_folder(|name| env::var_os(name).map(PathBuf::from));
    SECRETS.into_iter().map(move |it| home.join(it)).chain(logs).filter(|it| it.exists())
}

/// Returns the folder for the user's state, from the environment. Relative paths are ignored, as the XDG specification
/// demands.
fn state_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|it| it.join("toolwright"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_programs_is_where_the_user_says() {
        let of = |known: &[(&str, &str)]| {
            state_folder(|name| known.iter().find(|it| it.0 == name).map(|it| it.1.into()))
        };
        assert_eq!(of(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/toolwright".into()));
        let home = Some("/h/.local/state/toolwright".into());
        assert_eq!(of(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]), home);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_log_in_the_folder_or_above_it_is_refused() {
        let around = tempfile::tempdir().expect("a folder");
        let around = around.path().canonicalize().expect("it is there");
        let work = around.join("work");
        fs::create_dir(&work).expect("made");
        for wrong in [work.join("a/changes.db"), around.join("changes.db")] {
            let why = prepare(wrong, &work).expect_err("it could be reached");
            assert!(why.contains("neither may contain the other"), "{why}");
        }
        prepare(around.join("state/changes.db"), &work).expect("it is beside the folder");
    }
}
