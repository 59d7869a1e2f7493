//! The parts of an answer that a model sends before the answer is complete.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright::provider::ToolCall;

/// A piece of an answer that is not complete yet.
///
/// Deltas are not part of a history. If the request succeeds, the complete answer becomes part of the history, and
/// contains the content of its deltas.
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
    /// The next part of the model's text.
    Text(&'a str),
    /// The next part of the model's reasoning.
    Reasoning(&'a str),
    /// A call began.
    CallBegan {
        /// The index of the call in the answer, counted from 0.
        index: usize,
        /// The tool, by the application's name.
        name: &'a str,
    },
    /// The next part of a call's arguments has arrived.
    Arguments {
        /// The index of the call in the answer.
        index: usize,
        /// The next part of the arguments, as the model wrote it.
        text: &'a str,
    },
    /// A call is complete. The answer may still fail.
    CallWhole {
        /// The index of the call in the answer.
        index: usize,
        /// The call, as the complete answer will contain it.
        call: &'a ToolCall,
    },
    /// The provider runs a tool of its own.
    ProviderTool {
        /// The provider's name of the tool.
        name: &'a str,
    },
    /// The answer begins again, from this or another model. Discard all earlier deltas.
    Restarted,
    /// The provider sent something that this release does not know and has skipped.
    Unknown {
        /// The provider's name of the kind of content.
        kind: &'a str,
    },
}

/// Receives an answer as it arrives. The listener is called while the stream is read, so it must be quick.
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
    /// Takes the next delta.
    fn delta(&self, delta: Delta<'_>);
}

/// Omits texts and arguments, which may hold secrets.
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

/// Passes deltas on, and remembers whether the current answer has had any. If so, these deltas have to be discarded
/// before another answer begins.
pub(crate) struct Passing<'a> {
    to: &'a dyn DeltaListener,
    came: AtomicBool,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(to: &'a dyn DeltaListener) -> Self {
        Self { to, came: AtomicBool::new(false) }
    }

    /// Begins another answer; sends [`Delta::Restarted`] if the answer before it had deltas.
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
