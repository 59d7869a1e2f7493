//! Finds the key of an account: a text, an environment variable, or the output of a command.
//!
//! The command runs before the first request, and its output is remembered. It runs once more if the provider refuses
//! the key of a request.

mod command;
mod secret;
mod shown;

use std::ffi::OsString;
use std::fmt;

use self::command::CommandKey;
pub(super) use self::secret::Secret;
use super::HttpModelError;
use super::fault::Fault;

/// The key of an account, or where to find it. The key does not appear in a `Debug`, error, event or recording. A key
/// of fewer than 7 bytes counts as a placeholder, and is not removed from what a server sends.
///
/// ```
/// use toolwright_agent::http::{ApiKey, HttpModel};
///
/// let of_the_environment = ApiKey::from_env("ANTHROPIC_API_KEY");
/// let of_a_command = ApiKey::from_command(["op", "read", "op://work/anthropic/key"]);
/// assert_eq!(format!("{of_a_command:?}"), "ApiKey(printed by `op`)");
/// let model = HttpModel::anthropic("some-model")
///     .base_url("http://127.0.0.1:8000")
///     .key(of_a_command)
///     .build()?;
/// # let _ = (of_the_environment, model);
/// # Ok::<(), toolwright_agent::http::HttpModelError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey(Source);

#[derive(Clone)]
enum Source {
    Text(Option<Secret>),
    Variable(String),
    Command(Vec<OsString>),
}

/// The source of the key for each request of a model.
#[derive(Debug)]
pub(super) enum Keys {
    Fixed(Option<Secret>),
    Command(Box<CommandKey>),
}

impl ApiKey {
    /// Reads the key from an environment variable when the model is built.
    pub fn from_env(variable: impl Into<String>) -> Self {
        Self(Source::Variable(variable.into()))
    }

    /// Reads the key from a program that prints it on standard output, such as the program of a password manager or of
    /// a cloud. `words` are the program and its arguments; no shell is used. The program runs before the first request.
    /// If the provider refuses the key, for instance because it has expired, the program runs once more, and the
    /// request is retried if the new key differs. The program may take at most a minute, gets no input, and shares the
    /// standard error of this process.
    pub fn from_command(words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self(Source::Command(words.into_iter().map(Into::into).collect()))
    }

    pub(super) fn keys(self) -> Result<Keys, HttpModelError> {
        match self.0 {
            Source::Text(secret) => Ok(Keys::Fixed(secret)),
            Source::Variable(variable) => {
                let text = std::env::var(&variable).unwrap_or_default();
                match Secret::new(&text) {
                    Some(secret) => Ok(Keys::Fixed(Some(secret))),
                    None => Err(HttpModelError::KeyVariable { variable }),
                }
            }
            Source::Command(words) => match CommandKey::new(words) {
                Some(command) => Ok(Keys::Command(Box::new(command))),
                None => Err(HttpModelError::KeyCommand),
            },
        }
    }
}

impl Keys {
    /// Returns the key to send; `None` if the server needs none.
    pub(super) async fn current(&self) -> Result<Option<Secret>, Fault> {
        match self {
            Self::Fixed(secret) => Ok(secret.clone()),
            Self::Command(command) => command.current().await.map(Some),
        }
    }

    /// Reports whether the source has a key other than the refused one. A command runs again to find out.
    pub(super) async fn has_other_than(&self, refused: Option<&Secret>) -> Result<bool, Fault> {
        match (self, refused) {
            (Self::Command(command), Some(refused)) => command.has_other_than(refused).await,
            _ => Ok(false),
        }
    }
}

impl From<&str> for ApiKey {
    fn from(text: &str) -> Self {
        Self(Source::Text(Secret::new(text)))
    }
}

impl From<String> for ApiKey {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// Omits the key, and the arguments of a command, which may contain the key.
impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Text(_) => formatter.write_str("ApiKey(…)"),
            Source::Variable(variable) => write!(formatter, "ApiKey(in {variable})"),
            Source::Command(words) => {
                let program = words.first().map(|it| it.to_string_lossy()).unwrap_or_default();
                write!(formatter, "ApiKey(printed by `{program}`)")
            }
        }
    }
}
