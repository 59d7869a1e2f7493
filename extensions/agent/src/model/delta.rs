//! What a model sends before its answer is whole.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright::provider::ToolCall;

/// A piece of an answer that is not whole yet.
///
/// No delta is part of a history: the whole answer is, which says the same or fails.
///
/// ```
/// use toolwright_agent::Delta;
///
/// fn in_words(delta: Delta<'_>) -> String {
///     match delta {
///         Delta::Text(text) => text.to_owned(),
///         Delta::CallBegan { name, .. } => format!("[calls {name}]"),
///         Delta::Restarted => "[starts again]".to_owned(),
///         _ => String::new(),
///     }
/// }
/// assert_eq!(in_words(Delta::CallBegan { index: 0, name: "add" }), "[calls add]");
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// More of what the model says.
    Text(&'a str),
    /// More of its reasoning.
    Reasoning(&'a str),
    /// A call began.
    CallBegan {
        /// Its place among the calls of the answer, counted from 0.
        index: usize,
        /// The tool, by the application's name.
        name: &'a str,
    },
    /// More of the arguments of a call that began.
    Arguments {
        /// The call's place among the calls of the answer.
        index: usize,
        /// The text that follows what came before, as the model wrote it.
        text: &'a str,
    },
    /// A call is whole. The answer that it is in may still fail.
    CallWhole {
        /// The call's place among the calls of the answer.
        index: usize,
        /// The call, as the answer will hold it.
        call: &'a ToolCall,
    },
    /// The provider runs a tool of its own.
    ProviderTool {
        /// The tool, as the provider calls it.
        name: &'a str,
    },
    /// The model is asked again, or another one is: what came before is no part of the answer.
    Restarted,
    /// The provider sent something that this release does not know, and it was skipped.
    Unknown {
        /// What the provider calls it.
        kind: &'a str,
    },
}

/// Hears an answer as it comes. It is called in the middle of the stream, so it has to be quick.
///
/// ```
/// use std::sync::Mutex;
/// use toolwright_agent::{Delta, DeltaListener};
///
/// /// Gathers the text.
/// #[derive(Default)]
/// struct Gathered(Mutex<String>);
///
/// impl DeltaListener for Gathered {
///     fn delta(&self, delta: Delta<'_>) {
///         let Ok(mut text) = self.0.lock() else { return };
///         match delta {
///             Delta::Text(more) => text.push_str(more),
///             Delta::Restarted => text.clear(),
///             _ => {}
///         }
///     }
/// }
///
/// let gathered = Gathered::default();
/// gathered.delta(Delta::Text("Hel"));
/// gathered.delta(Delta::Restarted);
/// gathered.delta(Delta::Text("Hello."));
/// assert_eq!(*gathered.0.lock().unwrap(), "Hello.");
/// ```
pub trait DeltaListener: Send + Sync {
    /// Takes the next piece.
    fn delta(&self, delta: Delta<'_>);
}

/// Without texts and arguments, which may hold secrets.
impl fmt::Debug for Delta<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "Text({} bytes)", text.len()),
            Self::Reasoning(text) => write!(formatter, "Reasoning({} bytes)", text.len()),
            Self::CallBegan { index, name } => write!(formatter, "CallBegan({index}, {name:?})"),
            Self::Arguments { index, text } => {
                write!(formatter, "Arguments({index}, {} bytes)", text.len())
            }
            Self::CallWhole { index, call } => write!(formatter, "CallWhole({index}, {call:?})"),
            Self::ProviderTool { name } => write!(formatter, "ProviderTool({name:?})"),
            Self::Restarted => formatter.write_str("Restarted"),
            Self::Unknown { kind } => write!(formatter, "Unknown({kind:?})"),
        }
    }
}

impl fmt::Debug for dyn DeltaListener + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DeltaListener")
    }
}

/// Passes pieces on, and remembers whether any came since the answer began: what came then has to be taken back before
/// another answer begins.
pub(crate) struct Passing<'a> {
    to: &'a dyn DeltaListener,
    came: AtomicBool,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(to: &'a dyn DeltaListener) -> Self {
        Self { to, came: AtomicBool::new(false) }
    }

    /// Another answer begins.
    pub(crate) fn restart(&self) {
        if self.came.swap(false, Ordering::Relaxed) {
            self.to.delta(Delta::Restarted);
        }
    }
}

impl DeltaListener for Passing<'_> {
    fn delta(&self, delta: Delta<'_>) {
        let came = !matches!(delta, Delta::Restarted);
        self.came.store(came, Ordering::Relaxed);
        self.to.delta(delta);
    }
}
