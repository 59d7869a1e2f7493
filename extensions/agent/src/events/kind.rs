//! The events of a run.

use std::fmt;

use jiff::Timestamp;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use toolwright::journal::State as CallState;
use toolwright::provider::ToolCall;
use toolwright::{Answer, Catalog, ToolEventKind};

use super::readers::Agents;
use crate::events::{GuardReport, NoticeKind, RunEnd};
use crate::history::Message;
use crate::limits::Usage;
use crate::model::Omitted;

/// Something that happened to a run, with its number and turn.
///
/// ```
/// use toolwright_agent::{NumberedEvent, RunEvent};
///
/// fn in_words(event: &NumberedEvent) -> String {
///     match &event.kind {
///         RunEvent::Text(text) => text.clone(),
///         RunEvent::Missed { first, last } => format!("[missed {first} to {last}]"),
///         _ => String::new(),
///     }
/// }
/// # let _ = in_words;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberedEvent {
    /// The number of the event. Numbers grow. In a durable run, they also grow from one driver to the next: the numbers
    /// of the `n`th driver's events are above `(n - 1) << 32`.
    pub number: u64,
    /// The turn in which the event happened, counted from 1; 0 before the first request to the model.
    pub turn: u64,
    /// The event itself.
    #[serde(flatten)]
    pub kind: RunEvent,
}

/// Something that happened in a run.
#[derive(Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run continues with an agent that differs from the agent that drove it before, for example in its model,
    /// instructions or tools.
    Differs {
        /// What differs in the agent: a short text for each difference.
        differences: Vec<String>,
    },
    /// Another process or task drives the recorded run, and this process waits for its result.
    Elsewhere {
        /// When the lease of the other driver ends, unless that driver renews it.
        until: Timestamp,
    },
    /// The model is being asked.
    Asking,
    /// More of the model's text; all of it if the model does not stream.
    Text(#[serde(serialize_with = "text_field")] String),
    /// More of the model's reasoning.
    Reasoning(#[serde(serialize_with = "text_field")] String),
    /// The model began to write a call.
    CallBegan {
        /// The index of the call in the answer, counted from 0.
        index: usize,
        /// The name of the tool.
        tool: String,
    },
    /// More of the arguments of a call. Calls of a tool with a secret parameter, and calls of an unknown tool, have no
    /// such events. Calls of `final_answer` are an exception. In a run with an output type, a model calls this tool to
    /// give the value if the model's provider cannot request a format. The arguments of the call are parts of the
    /// value, which is not checked yet. With other providers, the value arrives as [`Text`](Self::Text).
    Arguments {
        /// The index of the call in the answer.
        index: usize,
        /// The next part of the arguments.
        text: String,
    },
    /// The provider runs a tool of its own, for example a search of the web or a search for tools.
    ProviderTool {
        /// The provider's name of the tool.
        tool: String,
    },
    /// The answer starts again, from this model or another one. Discard the parts of the answer that earlier events
    /// brought.
    Restarted,
    /// The request omitted content that only models of another provider accept: signatures, reasoning, results of that
    /// provider's own tools. Each message of the history is reported once.
    Omitted {
        /// The content that was not reported before.
        omitted: Vec<Omitted>,
    },
    /// The request omits a part of the history, which has outgrown its share of the model's context window; see
    /// [`AgentBuilder::window`](crate::AgentBuilder::window). Reported again when a larger part is omitted.
    Compacted {
        /// The estimated tokens of the whole history.
        before: u64,
        /// The estimated tokens of the part that is sent.
        after: u64,
        /// Whether even the part that is sent is too long, because nothing else could be omitted.
        is_too_long: bool,
    },
    /// A model has summarized turns that requests leave out from here on; the request contains the summary. See
    /// [`AgentBuilder::summarizer`](crate::AgentBuilder::summarizer).
    Summarized {
        /// The estimated tokens of the summary.
        tokens: u64,
    },
    /// Requests leave turns out without a summary, because no summary could be made.
    NotSummarized {
        /// The reason.
        why: String,
    },
    /// A guard did not let a message, request, answer or end through unchanged: it changed, sent back or stopped it, or
    /// failed.
    Guard(GuardReport),
    /// The model's answer is complete.
    Answered {
        /// How many calls the answer has.
        calls: usize,
        /// The tokens that the answer took, if the provider reports them.
        usage: Option<Usage>,
    },
    /// The request to the model failed.
    Failed {
        /// The kind of the error, for programs.
        kind: String,
        /// The reason.
        message: String,
    },
    /// The calls of the answer begin to run.
    Calling {
        /// The calls that run, in call order.
        calls: Vec<CalledTool>,
    },
    /// The model calls a tool, with complete arguments. There is one event for each call, before the calls run. Only
    /// calls that began [early](crate::AgentBuilder::early_reads) may run already.
    ToolCall(ToolCallEvent),
    /// A tool reports its progress.
    Progress {
        /// The id that the provider gave the tool's call.
        id: Option<String>,
        /// The name of the tool.
        tool: String,
        /// The progress in words.
        message: String,
        /// The progress as a fraction of 1, if known.
        part: Option<f64>,
    },
    /// The tool of a call begins to work.
    Executing {
        /// The call whose tool begins to work.
        #[serde(flatten)]
        call: CalledTool,
    },
    /// A call has ended or has to wait. Its answer counts only when the answers of the turn are recorded.
    Done {
        /// The call that has ended or has to wait.
        #[serde(flatten)]
        call: CalledTool,
        /// The kind of the call's error, if the call failed.
        error: Option<String>,
        /// The state of the call that has to wait; `None` if the call has ended.
        waits: Option<CallState>,
    },
    /// An attempt of a call failed, and the call is tried again.
    Retrying {
        /// The call that is tried again.
        #[serde(flatten)]
        call: CalledTool,
        /// The number of the failed attempt, counted from 1.
        attempt: u32,
        /// The kind of the call's error.
        error: String,
    },
    /// The result of a call. These events are sent when all calls of the turn have ended, in call order.
    ToolResult(ToolResultEvent),
    /// The run was handed off: from the next turn on another agent drives it; see [`HandOff`](crate::HandOff).
    HandedOff {
        /// The agent that handed the run off.
        from: String,
        /// The agent that continues the run.
        to: String,
        /// The reason, in the words of the model that handed the run off.
        reason: String,
    },
    /// Calls of the turn or calls in the background wait, and no process drives the run meanwhile.
    Waiting {
        /// The calls that wait, in call order.
        calls: Vec<CalledTool>,
    },
    /// The run ended.
    Ended(RunEnd),
    /// The run stopped without an end.
    Stopped {
        /// The reason.
        why: String,
    },
    /// Something happened to a sub-agent that a call of the run started.
    OfAgent {
        /// The names of the sub-agents, from the sub-agent that the run started down to the one that the event is
        /// about.
        agents: Vec<String>,
        /// The event of the sub-agent.
        of_agent: Box<RunEvent>,
    },
    /// This reader has missed events, because it was too slow, or because another process drove the run. The history of
    /// the run has the messages, calls and answers of the missed events.
    Missed {
        /// The number of the first missed event.
        first: u64,
        /// The number of the last missed event.
        last: u64,
    },
}

/// A tool call, as the model makes it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCallEvent {
    /// The id that the provider gave the call.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them. Empty if the tool takes a secret or no tool has the name, because the
    /// arguments might contain a secret.
    pub arguments: String,
}

/// The result of a tool call.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolResultEvent {
    /// The id that the provider gave the call.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The answer, as the model reads it.
    pub text: String,
    /// The kind of the call's error, if the call failed.
    pub error: Option<String>,
}

fn text_field<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("text", text)?;
    map.end()
}

/// A call, without its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CalledTool {
    /// The id that the provider gave the call.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
}

impl From<&ToolCall> for CalledTool {
    fn from(call: &ToolCall) -> Self {
        Self { id: call.id.clone(), tool: call.name.clone() }
    }
}

impl ToolCallEvent {
    fn new(call: &ToolCall, catalog: &Catalog) -> Self {
        let is_open = catalog.get(&call.name).is_some_and(|it| it.secrets().next().is_none());
        let arguments = if is_open { call.arguments.to_string() } else { String::new() };
        Self { id: call.id.clone(), name: call.name.clone(), arguments }
    }
}

/// Omits the arguments, which may hold a secret.
impl fmt::Debug for ToolCallEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ToolCall({:?}, {} bytes)", self.name, self.arguments.len())
    }
}

/// Omits the text, which may hold a secret.
impl fmt::Debug for ToolResultEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "ToolResult({:?}, {} bytes, {:?})",
            self.name,
            self.text.len(),
            self.error
        )
    }
}

impl RunEvent {
    /// Wraps the event in [`OfAgent`](Self::OfAgent) if it is about a sub-agent.
    pub(super) fn of_agents(self, agents: Option<&Agents>) -> Self {
        match agents {
            Some(agents) => Self::OfAgent { agents: agents.to_vec(), of_agent: Box::new(self) },
            None => self,
        }
    }

    /// Converts an event of a tool call; `None` if run events have no counterpart.
    pub(super) fn of_call(event: &toolwright::ToolEvent<'_>) -> Option<Self> {
        let (id, tool) = (event.provider_id.map(str::to_owned), event.tool.to_owned());
        let call = CalledTool { id, tool };
        Some(match event.kind {
            ToolEventKind::Executing => Self::Executing { call },
            ToolEventKind::Completed { .. } => Self::Done { call, error: None, waits: None },
            ToolEventKind::Failed { error, .. } => {
                Self::Done { call, error: Some(error.kind().to_owned()), waits: None }
            }
            ToolEventKind::Suspended { state, .. } => {
                Self::Done { call, error: None, waits: Some(state) }
            }
            ToolEventKind::Retrying { attempt, error, .. } => {
                Self::Retrying { call, attempt, error: error.kind().to_owned() }
            }
            ToolEventKind::Progress { message, part } => {
                let CalledTool { id, tool } = call;
                Self::Progress { id, tool, message: message.to_owned(), part }
            }
            _ => return None,
        })
    }

    /// Converts a notice, which listeners of the agent receive, to the events that readers of the run receive.
    pub(crate) fn of(notice: NoticeKind<'_>, catalog: &Catalog) -> Vec<Self> {
        match notice {
            NoticeKind::Differs { differences } => {
                vec![Self::Differs { differences: differences.to_vec() }]
            }
            NoticeKind::Asking => vec![Self::Asking],
            NoticeKind::Omitted { omitted } => vec![Self::Omitted { omitted: omitted.to_vec() }],
            NoticeKind::Compacted { before, after, is_too_long } => {
                vec![Self::Compacted { before, after, is_too_long }]
            }
            NoticeKind::Summarized { tokens } => vec![Self::Summarized { tokens }],
            NoticeKind::NotSummarized { why } => {
                vec![Self::NotSummarized { why: why.to_owned() }]
            }
            NoticeKind::Guard { report } => vec![Self::Guard(report.clone())],
            NoticeKind::Answered { answer } => {
                vec![Self::Answered { calls: answer.calls.len(), usage: answer.usage }]
            }
            NoticeKind::Failed { error } => {
                let (kind, message) = (error.kind().to_owned(), error.message().to_owned());
                vec![Self::Failed { kind, message }]
            }
            NoticeKind::Calling { calls } => {
                let calling = Self::Calling { calls: calls.iter().map(CalledTool::from).collect() };
                let calls = calls.iter().map(|call| ToolCallEvent::new(call, catalog));
                calls.map(Self::ToolCall).chain([calling]).collect()
            }
            NoticeKind::Appended { message: Message::ToolResults(answered) } => {
                let result = |(call, answer): &(ToolCall, Answer)| {
                    Self::ToolResult(ToolResultEvent {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        text: answer.text().into_owned(),
                        error: answer.error().map(|it| it.kind().to_owned()),
                    })
                };
                answered.iter().map(result).collect()
            }
            NoticeKind::Appended { .. } => Vec::new(),
            NoticeKind::HandedOff { from, to, reason } => {
                let (from, to, reason) = (from.to_owned(), to.to_owned(), reason.to_owned());
                vec![Self::HandedOff { from, to, reason }]
            }
            NoticeKind::Ended { ended } => vec![Self::Ended(ended.clone())],
        }
    }

    /// Returns how many bytes of text the event holds.
    pub(super) fn bytes(&self) -> usize {
        let calls = |calls: &[CalledTool]| calls.iter().map(|it| it.tool.len()).sum();
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Arguments { text, .. } => text.len(),
            Self::ToolCall(call) => call.name.len() + call.arguments.len(),
            Self::ToolResult(result) => result.name.len() + result.text.len(),
            Self::CallBegan { tool, .. } | Self::ProviderTool { tool } => tool.len(),
            Self::Executing { call } | Self::Done { call, .. } | Self::Retrying { call, .. } => {
                call.tool.len()
            }
            Self::Failed { message, .. } | Self::Progress { message, .. } => message.len(),
            Self::Stopped { why } | Self::NotSummarized { why } => why.len(),
            Self::Guard(report) => report.guard.len() + report.reason.len(),
            Self::HandedOff { from, to, reason } => from.len() + to.len() + reason.len(),
            Self::OfAgent { agents, of_agent } => {
                agents.iter().map(String::len).sum::<usize>() + of_agent.bytes()
            }
            Self::Calling { calls: of } | Self::Waiting { calls: of } => calls(of),
            Self::Ended(RunEnd::Text { text, .. } | RunEnd::Terminal { text, .. }) => text.len(),
            Self::Ended(RunEnd::Output { value }) => value.len(),
            Self::Ended(RunEnd::InvalidOutput { problems: words, .. })
            | Self::Differs { differences: words } => words.iter().map(String::len).sum(),
            Self::Ended(_)
            | Self::Elsewhere { .. }
            | Self::Asking
            | Self::Restarted
            | Self::Answered { .. }
            | Self::Compacted { .. }
            | Self::Summarized { .. }
            | Self::Omitted { .. }
            | Self::Missed { .. } => 0,
        }
    }
}

/// Omits texts and arguments, which may hold secrets.
impl fmt::Debug for RunEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { differences } => write!(formatter, "Differs({differences:?})"),
            Self::Elsewhere { until } => write!(formatter, "Elsewhere({until})"),
            Self::Asking => formatter.write_str("Asking"),
            Self::Text(text) => write!(formatter, "Text({} bytes)", text.len()),
            Self::ToolCall(call) => call.fmt(formatter),
            Self::ToolResult(result) => result.fmt(formatter),
            Self::Reasoning(text) => write!(formatter, "Reasoning({} bytes)", text.len()),
            Self::CallBegan { index, tool } => write!(formatter, "CallBegan({index}, {tool:?})"),
            Self::Arguments { index, text } => {
                write!(formatter, "Arguments({index}, {} bytes)", text.len())
            }
            Self::ProviderTool { tool } => write!(formatter, "ProviderTool({tool:?})"),
            Self::Restarted => formatter.write_str("Restarted"),
            Self::Answered { calls, .. } => write!(formatter, "Answered({calls} calls)"),
            Self::Omitted { omitted } => write!(formatter, "Omitted({omitted:?})"),
            Self::Compacted { before, after, .. } => {
                write!(formatter, "Compacted({before} to {after})")
            }
            Self::Summarized { tokens } => write!(formatter, "Summarized({tokens})"),
            Self::NotSummarized { why } => write!(formatter, "NotSummarized({why})"),
            Self::Failed { kind, .. } => write!(formatter, "Failed({kind})"),
            Self::Calling { calls } => write!(formatter, "Calling({calls:?})"),
            Self::Progress { tool, .. } => write!(formatter, "Progress({tool:?})"),
            Self::Executing { call } => write!(formatter, "Executing({:?})", call.tool),
            Self::Done { call, error, waits } => {
                write!(formatter, "Done({:?}, {error:?}, {waits:?})", call.tool)
            }
            Self::Retrying { call, attempt, .. } => {
                write!(formatter, "Retrying({:?}, {attempt})", call.tool)
            }
            Self::HandedOff { from, to, .. } => write!(formatter, "HandedOff({from:?} to {to:?})"),
            Self::Waiting { calls } => write!(formatter, "Waiting({calls:?})"),
            Self::Ended(ended) => ended.fmt(formatter),
            Self::Stopped { why } => write!(formatter, "Stopped({why})"),
            Self::Guard(report) => write!(formatter, "Guard({report})"),
            Self::OfAgent { agents, of_agent } => {
                write!(formatter, "OfAgent({}: {of_agent:?})", agents.join("/"))
            }
            Self::Missed { first, last } => write!(formatter, "Missed({first} to {last})"),
        }
    }
}
