//! Locates the change log of a folder: it is outside of the folder, in the user's folder for program state.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::end::Problem;

/// The file name of a change log. The folder of a log can also contain folders with the names of the user's folders, so
/// this is a name that a folder is unlikely to have.
const FILE: &str = "changes@coder.db";

/// Returns the change log file of a folder, and creates the folders above it.
///
/// Each folder has its own log below `$XDG_STATE_HOME/coder` or `~/.local/state/coder`, where the log's path repeats
/// the path of the folder: the log of `/home/ada/shop` is `~/.local/state/coder/home/ada/shop/changes@coder.db`.
pub fn log_of(folder: &Path) -> Result<PathBuf, Problem> {
    let real = folder
        .canonicalize()
        .map_err(|error| Problem::Folder { folder: folder.to_owned(), error })?;
    let state = logs().ok_or_else(|| {
        let message = "found neither XDG_STATE_HOME nor HOME with an absolute path, expected one of them: the log of \
                       changes is written below it";
        Problem::Usage(message.to_owned())
    })?;
    let file = file_of(&state, &real);
    let above = file.parent().unwrap_or(&state);
    let what = format!("the folder of the change log, `{}`, cannot be made", above.display());
    fs::create_dir_all(above).map_err(|error| Problem::failed(what, error))?;
    Ok(file)
}

/// Returns the folder that contains all change logs.
pub fn logs() -> Option<PathBuf> {
    state_folder(|name| env::var_os(name).map(PathBuf::from))
}

/// Returns the user's folder for program state. Relative paths in the variables are ignored, as the specification
/// requires.
fn state_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .or_else(|| absolute("LOCALAPPDATA"));
    state.map(|it| it.join("coder"))
}

fn file_of(state: &Path, folder: &Path) -> PathBuf {
    let parts = folder.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    state.join(parts.collect::<PathBuf>()).join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_has_a_log_of_its_own_outside_of_it() {
        let state = Path::new("/home/ada/.local/state/coder");
        let [one, below] = ["/srv/shop", "/srv/shop/api"].map(|it| file_of(state, Path::new(it)));
        assert_eq!(one, state.join("srv/shop/changes@coder.db"));
        assert_eq!(below, state.join("srv/shop/api/changes@coder.db"));
    }

    #[test]
    fn the_state_of_programs_is_where_the_user_says() {
        let of = |known: &[(&str, &str)]| {
            state_folder(|name| known.iter().find(|it| it.0 == name).map(|it| it.1.into()))
        };
        assert_eq!(of(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/coder".into()));
        assert_eq!(
            of(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]),
            Some("/h/.local/state/coder".into())
        );
        assert_eq!(of(&[]), None);
    }
}
