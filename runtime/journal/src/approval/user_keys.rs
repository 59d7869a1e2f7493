//! The keys in the configuration of the user who runs a program.

use std::env;
use std::fs::{self, DirBuilder};
use std::path::{Path, PathBuf};

use super::key::ApproverKey;
use super::key_file::KeyError;

/// The variable that names the file of the user's key.
const VARIABLE: &str = "TOOLWRIGHT_KEY";

/// The folder of a user's keys: `toolwright/keys` in `$XDG_CONFIG_HOME` or `~/.config`.
#[derive(Debug, Clone)]
pub struct UserKeys {
    folder: PathBuf,
}

impl UserKeys {
    /// Finds the folder of the user's keys, which may not exist yet.
    ///
    /// # Errors
    /// When no variable names the configuration folder, or its path is not absolute.
    pub fn find() -> Result<Self, KeyError> {
        let folder = |variable| read_variable(variable).map(PathBuf::from);
        let (variable, folder) = match (folder("XDG_CONFIG_HOME"), folder("HOME")) {
            (Some(folder), _) => ("XDG_CONFIG_HOME", folder),
            (None, Some(home)) => ("HOME", home.join(".config")),
            (None, None) => {
                let why = "neither XDG_CONFIG_HOME nor HOME says where the configuration is";
                return Err(KeyError::NoConfiguration(why.to_owned()));
            }
        };
        if folder.is_relative() {
            return Err(KeyError::NoConfiguration(format!("{variable} is not an absolute path")));
        }
        Ok(Self { folder: folder.join("toolwright").join("keys") })
    }

    /// Returns the path for the file of a new key with this name.
    ///
    /// # Errors
    /// When the name cannot be the name of a file.
    pub fn file(&self, name: &str) -> Result<PathBuf, KeyError> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@+".contains(letter);
        match name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            true => Err(KeyError::FileName(name.to_owned())),
            false => Ok(self.folder.join(format!("{name}.key"))),
        }
    }

    /// Returns the user's key file if there is exactly one; `None` if there is none, or the folder cannot be read.
    ///
    /// # Errors
    /// When there are several keys.
    pub fn only(&self) -> Result<Option<PathBuf>, KeyError> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut keys: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|it| it.extension() == Some("key".as_ref()))
            .collect();
        keys.sort();
        if keys.len() > 1 {
            let names = keys.iter().filter_map(|it| it.file_name());
            let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
            let (folder, names) = (self.folder.clone(), names.join(", "));
            return Err(KeyError::Several { folder, names });
        }
        Ok(keys.pop())
    }

    /// Creates the folder if it is missing, so that (on Unix) only its owner can access it.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn make_folder(&self) -> Result<(), KeyError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let path = || self.folder.clone();
        builder.create(&self.folder).map_err(|error| KeyError::Folder { path: path(), error })
    }

    /// Returns the file that `TOOLWRIGHT_KEY` names.
    #[must_use]
    pub fn of_variable() -> Option<PathBuf> {
        read_variable(VARIABLE).map(PathBuf::from)
    }

    /// Returns the git work tree in which a file would lie after links in its path are resolved.
    #[must_use]
    pub fn work_tree(file: &Path) -> Option<PathBuf> {
        let file = std::path::absolute(file).ok()?;
        let there = file.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok())?;
        there.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
    }
}

impl ApproverKey {
    /// Loads the key of the user who runs the program. If the variable `TOOLWRIGHT_KEY` is set, it names the file of
    /// the key. Otherwise the key is in the folder `toolwright/keys` of `$XDG_CONFIG_HOME` or `~/.config`. If that
    /// folder has no key, this makes one there, with the name of the user and (on Unix) readable only by its owner.
    /// `toolwright approvals` signs with the same key.
    ///
    /// # Errors
    /// When the key cannot be read or made, others than its owner can read it, or there are several keys. Also when a
    /// new key would lie in a git work tree, where agents may work.
    pub fn of_user() -> Result<Self, KeyError> {
        if let Some(key) = Self::of_user_if_any()? {
            return Ok(key);
        }
        let keys = UserKeys::find()?;
        let name = read_variable("USER").or_else(|| read_variable("LOGNAME"));
        let name = name.and_then(|it| it.into_string().ok()).unwrap_or_else(|| "user".to_owned());
        let (key, file) = (Self::generate(&name)?, keys.file(&name)?);
        if let Some(tree) = UserKeys::work_tree(&file) {
            return Err(KeyError::WorkTree { file, tree });
        }
        keys.make_folder()?;
        match key.save(&file) {
            // Another process of the user may have created the file first. Then that key is used.
            Ok(()) | Err(KeyError::Exists(_)) => Self::load(file),
            Err(error) => Err(error),
        }
    }

    /// Loads the key of the user who runs the program, as [`of_user`](Self::of_user) does, but does not create a
    /// missing key.
    ///
    /// # Errors
    /// When the key cannot be read, others than its owner can read it, or there are several keys.
    pub fn of_user_if_any() -> Result<Option<Self>, KeyError> {
        if let Some(file) = UserKeys::of_variable() {
            return Self::load(file).map(Some);
        }
        match UserKeys::find() {
            Ok(keys) => keys.only()?.map(Self::load).transpose(),
            Err(_) => Ok(None),
        }
    }
}

fn read_variable(variable: &str) -> Option<std::ffi::OsString> {
    env::var_os(variable).filter(|it| !it.is_empty())
}
