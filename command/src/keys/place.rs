//! Where a key lies.

use std::env;
use std::fs::{self, DirBuilder};
use std::path::{Path, PathBuf};

use crate::Exit;
use crate::operator::Stop;

/// The file of a name, in the user's configuration.
pub(super) fn default(name: &str) -> Result<PathBuf, Stop> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@+".contains(letter);
    if name.starts_with('.') || !name.chars().all(plain) {
        return Err(Stop::usage(format!(
            "{name:?} is no name for a file: name one with --out, or take letters, digits and -_.@+ alone"
        )));
    }
    Ok(folder()?.join(format!("{name}.key")))
}

/// The file that `TOOLWRIGHT_KEY` names.
pub(crate) fn of_variable() -> Option<PathBuf> {
    env::var_os("TOOLWRIGHT_KEY").filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// The only key in the user's configuration.
pub(crate) fn only() -> Result<PathBuf, Stop> {
    let folder = folder()?;
    let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut keys: Vec<PathBuf> =
        files.filter(|it| it.extension() == Some("key".as_ref())).collect();
    keys.sort();
    match keys.as_slice() {
        [key] => Ok(key.clone()),
        [] => Err(Stop::usage(
            "no key to sign with is named, and none lies in toolwright/keys of $XDG_CONFIG_HOME or ~/.config: give \
             --key FILE, or set TOOLWRIGHT_KEY; `toolwright keys new` makes one",
        )),
        several => {
            let names = several.iter().filter_map(|it| it.file_name());
            let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
            Err(Stop::usage(format!(
                "several keys lie in {}: give --key FILE, or set TOOLWRIGHT_KEY, to say which of {} signs",
                folder.display(),
                names.join(", ")
            )))
        }
    }
}

fn folder() -> Result<PathBuf, Stop> {
    Ok(configuration()?.join("toolwright").join("keys"))
}

fn configuration() -> Result<PathBuf, Stop> {
    let folder = |variable| env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from);
    let (variable, folder) = match folder("XDG_CONFIG_HOME") {
        Some(folder) => ("XDG_CONFIG_HOME", folder),
        None => match folder("HOME") {
            Some(home) => ("HOME", home.join(".config")),
            None => {
                return Err(Stop::usage(
                    "neither XDG_CONFIG_HOME nor HOME says where configuration lies: name the file with --out",
                ));
            }
        },
    };
    if folder.is_relative() {
        return Err(Stop::usage(format!("{variable} is no full path: name the file with --out")));
    }
    Ok(folder)
}

/// Makes the folders of a file that are missing, for their owner alone.
pub(super) fn make_folder(file: &Path) -> Result<(), Stop> {
    let folder = file.parent().unwrap_or(file);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        Stop::new(Exit::Key, format!("the folder {} cannot be made: {error}", folder.display()))
    })
}

/// The git work tree that a file would lie in, whatever links lead there.
pub(super) fn work_tree(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let there = file.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok())?;
    there.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
