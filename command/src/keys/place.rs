//! Where a key lies.

use std::env;
use std::fs::DirBuilder;
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
    Ok(configuration()?.join("toolwright").join("keys").join(format!("{name}.key")))
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
