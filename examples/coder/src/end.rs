//! How the program ends: it prints one JSON object, and exits with a code.
//!
//! | exit code | means |
//! | --- | --- |
//! | 0 | a terminal tool, a text or a report ended the run |
//! | 1 | the model failed, or the run could not go on |
//! | 2 | the command line is wrong |
//! | 3 | a call needs a decision, and no approver is available |
//! | 4 | a limit ended the run |
//! | 70 | the application itself is put together wrongly |
//! | 129, 130, 143 | a terminal that closes, an interrupt, or a request to terminate |

use std::error::Error;
use std::path::PathBuf;

use serde::Serialize;
use toolwright_agent::{RunEnd, Stopped, TotalUsage, Usage};

use crate::report::Printed;

/// The end of a run, as it is printed.
#[derive(Serialize)]
pub struct End<'a> {
    #[serde(flatten)]
    how: How,
    pub turns: u64,
    /// How many calls waited for an earlier call of their turn.
    pub waited: u64,
    /// How many calls ran at once at most.
    pub at_once: usize,
    /// The tokens that the models used.
    pub tokens: Tokens,
    /// The cost of `tokens` in US dollars; `None` if the price of a model is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    pub provider: &'a str,
    pub model: &'a str,
    /// The second model, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// A second model, which answered after the first one failed.
#[derive(Serialize)]
pub struct FallbackEnd {
    pub provider: &'static str,
    pub model: &'static str,
}

/// The tokens of a run, including those of failed requests.
#[derive(Serialize, Default)]
pub struct Tokens {
    input: u64,
    output: u64,
    #[serde(skip_serializing_if = "is_zero")]
    cached: u64,
    #[serde(skip_serializing_if = "is_zero")]
    reasoning: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

#[derive(Serialize)]
#[serde(untagged)]
enum How {
    Ended(RunEnd),
    Reported(Printed),
    Stopped {
        ended: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The kind of error of a model that cannot be reached.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        message: String,
    },
}

impl<'a> End<'a> {
    pub fn of(ended: Result<RunEnd, Stopped>, provider: &'a str, model: &'a str) -> Self {
        let how = match ended {
            Ok(ended) => match &ended {
                RunEnd::Output { value, .. } => {
                    Printed::of(value).map_or(How::Ended(ended.clone()), How::Reported)
                }
                _ => How::Ended(ended),
            },
            Err(stopped) => {
                let tool = stopped.needs_decision().map(|(tool, _)| tool.to_owned());
                let ended = if tool.is_some() { "undecided" } else { "stopped" };
                let (kind, retry_after_ms) = match &stopped {
                    Stopped::ModelUnreachable { kind, retry_after, .. } => {
                        let delay = retry_after.and_then(|it| u64::try_from(it.as_millis()).ok());
                        (Some(kind.clone()), delay)
                    }
                    _ => (None, None),
                };
                How::Stopped { ended, tool, kind, retry_after_ms, message: stopped.to_string() }
            }
        };
        Self {
            how,
            turns: 0,
            waited: 0,
            at_once: 0,
            tokens: Tokens::default(),
            cost: None,
            provider,
            model,
            fallback: None,
            folder: None,
        }
    }

    /// Returns the end of a recorded run that waits, with what it waits for and what to do.
    pub fn waiting(tool: String, message: String, provider: &'a str, model: &'a str) -> Self {
        let how = How::Stopped {
            ended: "waiting",
            tool: Some(tool),
            kind: None,
            retry_after_ms: None,
            message,
        };
        Self { how, ..Self::of(Ok(RunEnd::Cancelled), provider, model) }
    }

    /// Sets the tokens that the models used.
    fn took(&mut self, usage: Usage) {
        self.tokens = Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_tokens,
            reasoning: usage.reasoning_tokens,
        };
    }

    /// Sets the tokens and the cost.
    pub fn spent(&mut self, spent: TotalUsage) {
        self.took(spent.usage);
        self.cost = (spent.unpriced == 0).then(|| spent.cost.to_string());
    }

    /// Returns the exit code. `None` for a run that a signal cancelled: the signal determines the code.
    pub fn exit_code(&self) -> Option<u8> {
        Some(match &self.how {
            How::Reported(_) | How::Ended(RunEnd::Terminal { .. } | RunEnd::Text { .. }) => 0,
            How::Ended(RunEnd::Limit(_)) => 4,
            How::Ended(RunEnd::Cancelled) => return None,
            How::Stopped { tool: Some(_), .. } => 3,
            How::Ended(_) | How::Stopped { .. } => 1,
        })
    }

    /// Returns the line for a person that is printed besides the object.
    pub fn words(&self) -> String {
        match &self.how {
            How::Ended(ended) => ended.to_string(),
            How::Reported(report) => report.words(),
            How::Stopped { ended: "waiting", message, .. } => message.clone(),
            How::Stopped { tool: Some(_), message, .. } => format!(
                "{message}; start it at a terminal to decide, or allow the call in the policy"
            ),
            How::Stopped { message, .. } => message.clone(),
        }
    }
}

/// Why the program could not run.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Usage(String),
    #[error(
        "`{}` cannot be the folder to work in: {error}; name a folder that exists and can be read with `--folder`",
        folder.display()
    )]
    Folder { folder: PathBuf, error: std::io::Error },
    #[error("{what}: {why}")]
    Failed { what: String, why: String },
    #[error("{what}: {why}")]
    Application { what: &'static str, why: String },
}

impl Problem {
    pub fn application(what: &'static str, error: impl Error) -> Self {
        Self::Application { what, why: chain(&error) }
    }

    pub fn failed(what: impl Into<String>, error: impl Error) -> Self {
        Self::Failed { what: what.into(), why: chain(&error) }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Folder { .. } => 2,
            Self::Failed { .. } => 1,
            Self::Application { .. } => 70,
        }
    }
}

/// Formats an error and its causes.
fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        words = format!("{words}: {it}");
        cause = it.source();
    }
    words
}
