//! Stores keys in files. A file is written once, and (on Unix) only its owner can read it.

use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::key::{ApproverKey, PublicKey, bytes};
use crate::owned_file::{self, Unread, write_new};

/// The first line of a key file. Its number is the version of the file's format.
const FIRST: &str = "toolwright approver key 1";

impl ApproverKey {
    /// Writes the key to a new file that (on Unix) only its owner can read. Never overwrites a file.
    ///
    /// # Errors
    /// When the file exists already, or cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), KeyError> {
        let path = path.as_ref();
        write_new(path, self.file_text().as_bytes()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => KeyError::Exists(path.to_owned()),
            _ => KeyError::Write { path: path.to_owned(), error },
        })
    }

    /// Reads a key from the file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// When the file cannot be read, contains no key, or (on Unix) can be read or changed by other users.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let text = owned_file::read(path).map_err(|unread| match unread {
            Unread::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                KeyError::Format { path: path.to_owned(), problem: "it is no text".to_owned() }
            }
            Unread::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                KeyError::Missing(path.to_owned())
            }
            Unread::Io(error) => KeyError::Read { path: path.to_owned(), error },
            Unread::Shared(mode) => KeyError::Shared { path: path.to_owned(), mode },
        })?;
        let mut key =
            read(&text).map_err(|problem| KeyError::Format { path: path.to_owned(), problem })?;
        key.file = Some(path.to_owned());
        Ok(key)
    }

    fn file_text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!(
            "{FIRST}\nname: {}\npublic: {}\nsecret: {}\n",
            self.name(),
            self.public(),
            hex::encode(self.seed())
        ))
    }
}

/// Reads a key. Errors do not repeat the text, because it may be the secret.
fn read(text: &str) -> Result<ApproverKey, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(FIRST) => {}
        Some(line) if line.starts_with("toolwright approver key ") => {
            return Err(format!(
                "it is of a newer format than `{FIRST}`, the one this version reads: update"
            ));
        }
        _ => return Err(format!("its first line is not `{FIRST}`")),
    }
    let mut line = |name: &str| {
        let value = lines.next().and_then(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.ok_or_else(|| format!("there is no `{name}: …` where it belongs"))
    };
    let (name, public, secret) = (line("name")?, line("public")?, line("secret")?);
    if lines.next().is_some() {
        return Err("there is more after the secret".to_owned());
    }
    let seed = bytes::<32>(secret).ok_or("its secret is not 64 hexadecimal digits")?;
    let public: PublicKey = public.parse().map_err(|_| "its public key is invalid")?;
    let key = ApproverKey::from_seed(name, seed).map_err(|_| "its name is none")?;
    match key.public() == public {
        true => Ok(key),
        false => Err("its secret does not belong to its public key".to_owned()),
    }
}

/// Why a key could not be made, written or read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The name is invalid.
    #[error(
        "{0:?} is not a name for an approver: it is one line of text, without control characters"
    )]
    Name(String),
    /// The system gave no random bytes.
    #[error("the system gives no random bytes to make a key of: {0}")]
    Random(String),
    /// A file with this name exists, and a key never overwrites a file.
    #[error(
        "{} is there already, and a key is never written over: name another file, or move that one away",
        .0.display()
    )]
    Exists(PathBuf),
    /// The file could not be written.
    #[error("the key could not be written to {}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// The file of the key does not exist.
    #[error(
        "the key could not be read from {}, because there is no such file; `toolwright keys new --name NAME --out FILE` makes one",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file could not be read.
    #[error("the key could not be read from {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// Other users can read or change the file.
    #[error(
        "others than its owner may use the key in {} (its mode is {mode:03o}): run `chmod 600 {}`, and make a new key \
         if another person may have read it",
        path.display(),
        path.display()
    )]
    Shared {
        /// The path of the file.
        path: PathBuf,
        /// The permissions of the file.
        mode: u32,
    },
    /// The file contains no key that this version can read.
    #[error("{} holds no approver's key: {problem}; `toolwright keys new --name NAME --out FILE` makes a file with one", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with the content of the file.
        problem: String,
    },
    /// The environment variables do not give the absolute path of the user's configuration.
    #[error("{0}: set it, or name the file of a key (TOOLWRIGHT_KEY, or --out where one is made)")]
    NoConfiguration(String),
    /// The name of the key cannot be the name of a file.
    #[error(
        "{0:?} is not a name for a file: name one (TOOLWRIGHT_KEY, or --out where one is made), or use only letters, digits and -_.@+"
    )]
    FileName(String),
    /// The folder contains several keys, so the user has to name one of them.
    #[error("there are several keys in {}: set TOOLWRIGHT_KEY, or give --key FILE, to say which of {names} signs", folder.display())]
    Several {
        /// The path of the folder.
        folder: PathBuf,
        /// The names of the files.
        names: String,
    },
    /// The folder of keys could not be made.
    #[error("the folder {} cannot be made", path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// A new key would be written into a folder in which agents may work.
    #[error(
        "a key in {} would lie in the git work tree {}, where agents may work: an agent that reads it can approve; make one with \
         `toolwright keys new`, which takes --out and --anyway",
        file.display(),
        tree.display()
    )]
    WorkTree {
        /// The path of the file.
        file: PathBuf,
        /// The work tree.
        tree: PathBuf,
    },
}
toolwright_core::debug_as_sentence!(KeyError);
