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

/// Something that happened to a run, as its readers get it.
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
    /// Its number. Numbers grow; those of a durable run also from one process to the next that drives it. The first event of its
    /// `n`th driver has a number above `(n - 1) << 32`.
    pub number: u64,
    /// The turn, counted from 1.
    pub turn: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: RunEvent,
}

/// What happened to a run.
#[derive(Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run goes on with another agent than the one that drove it before: with another model, other instructions or tools.
    Differs {
        /// In what.
        differences: Vec<String>,
    },
    /// Another process or task drives the recorded run, and this one waits for what comes of it.
    Elsewhere {
        /// The end of the lease, unless it is renewed.
        until: Timestamp,
    },
    /// The model is asked.
    Asking,
    /// More of what the model says; all of it where the model does not stream.
    Text(#[serde(serialize_with = "text_field")] String),
    /// More of its reasoning.
    Reasoning(#[serde(serialize_with = "text_field")] String),
    /// The model began to write a call.
    CallBegan {
        /// The call's place among the calls of the answer, counted from 0.
        index: usize,
        /// The tool.
        tool: String,
    },
    /// More of the arguments of a call. A tool with a secret parameter has none of these events, and neither has a name
    /// that is no tool.
    Arguments {
        /// The call's place among the calls of the answer.
        index: usize,
        /// The text.
        text: String,
    },
    /// The provider runs a tool of its own: a search of the web, or for tools.
    ProviderTool {
        /// The tool, as the provider calls it.
        tool: String,
    },
    /// The model is asked again, or another one is: what came of this answer before is no part of it.
    Restarted,
    /// The request went without what the model of another provider wrote: signatures, reasoning, tools that the provider ran.
    /// Each message is reported once.
    Omitted {
        /// What is new.
        omitted: Vec<Omitted>,
    },
    /// The request goes without some of the history, which has outgrown its share of the model's window; see
    /// [`AgentBuilder::window`](crate::AgentBuilder::window). Reported again when the history has outgrown it again.
    Compacted {
        /// The estimated tokens of the whole history.
        before: u64,
        /// Those that are sent.
        after: u64,
        /// Whether that is more than there is room for: nothing else could be left out.
        is_too_long: bool,
    },
    /// A model has summarized turns that are left out from here on; the request goes with the summary. See
    /// [`AgentBuilder::summarizer`](crate::AgentBuilder::summarizer).
    Summarized {
        /// The estimated tokens of the summary.
        tokens: u64,
    },
    /// Turns are left out without a summary of them, because none could be made.
    NotSummarized {
        /// Why not.
        why: String,
    },
    /// A guard decided something else than to go on.
    Guard(GuardReport),
    /// The model's answer is whole.
    Answered {
        /// How many calls it has.
        calls: usize,
        /// What it took, where the provider says so.
        usage: Option<Usage>,
    },
    /// The model gave no answer.
    Failed {
        /// The kind of the error, for programs.
        kind: String,
        /// Why.
        message: String,
    },
    /// The calls of the answer are run.
    Calling {
        /// Those that are run, in call order.
        calls: Vec<CalledTool>,
    },
    /// The model calls a tool: its arguments are complete. One comes for each call, before the calls run.
    ToolCall(ToolCallEvent),
    /// A tool says how far it is.
    Progress {
        /// The id that the provider gave its call.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// In words.
        message: String,
        /// As a part of one, where known.
        part: Option<f64>,
    },
    /// The tool of a call begins to work.
    Executing {
        /// The call.
        #[serde(flatten)]
        call: CalledTool,
    },
    /// A call is over, or what it has to wait for is known. Its answer counts when the calls of the turn are recorded.
    Done {
        /// The call.
        #[serde(flatten)]
        call: CalledTool,
        /// The kind of its error, where it failed.
        error: Option<String>,
        /// What it waits for, where it does.
        waits: Option<CallState>,
    },
    /// An attempt of a call failed, and the call is tried again.
    Retrying {
        /// The call.
        #[serde(flatten)]
        call: CalledTool,
        /// Which attempt it was, counted from 1.
        attempt: u32,
        /// The kind of its error.
        error: String,
    },
    /// A call has its answer. These come when all calls of the turn have theirs, in call order.
    ToolResult(ToolResultEvent),
    /// The run was handed off: from the next turn on it is another agent's; see [`HandOff`](crate::HandOff).
    HandedOff {
        /// The agent that handed it off.
        from: String,
        /// The one that goes on with it.
        to: String,
        /// Why, in the words of the first one's model.
        reason: String,
    },
    /// Calls of the turn wait, and the run is not driven until they have their answers.
    Waiting {
        /// Those that wait, in call order.
        calls: Vec<CalledTool>,
    },
    /// The run ended.
    Ended(RunEnd),
    /// The run stopped without an end.
    Stopped {
        /// Why.
        why: String,
    },
    /// Something happened to a sub-agent that a call of the run has started.
    OfAgent {
        /// The names of the sub-agents: the one that the run has started, the one that this one has started, and so on.
        agents: Vec<String>,
        /// What happened.
        of_agent: Box<RunEvent>,
    },
    /// Events are gone that this reader has not read: it was too slow, or another process drove the run. The history of the run
    /// has what they led to.
    Missed {
        /// The number of the first.
        first: u64,
        /// The number of the last.
        last: u64,
    },
}

/// A call of a tool, as the model makes it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCallEvent {
    /// The id that the provider gave it.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments, as the model wrote them. Empty where the tool takes a secret, and where no tool has the name: what is in
    /// them may be a secret then.
    pub arguments: String,
}

/// What a call of a tool gave.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolResultEvent {
    /// The id that the provider gave the call.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The answer, as the model reads it.
    pub text: String,
    /// The kind of its error, where it failed.
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
    /// The id that the provider gave it.
    pub id: Option<String>,
    /// The tool.
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

/// Without arguments.
impl fmt::Debug for ToolCallEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ToolCall({:?}, {} bytes)", self.name, self.arguments.len())
    }
}

/// Without the text.
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
    /// The same event, of the sub-agents where it is one of theirs.
    pub(super) fn of_agents(self, agents: Option<&Agents>) -> Self {
        match agents {
            Some(agents) => Self::OfAgent { agents: agents.to_vec(), of_agent: Box::new(self) },
            None => self,
        }
    }

    /// The event of what listeners of its calls hear.
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

    /// The events of what listeners of the agent are notified of.
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

    /// How much text it holds, in bytes.
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

/// Without texts and arguments, which may hold secrets.
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
