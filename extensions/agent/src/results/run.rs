//! Stores the answers of one run, so that the model can refer to each by a handle such as `lr_3`, and shortens large
//! answers in the copy that the model reads.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use toolwright::provider::ToolCall;
use toolwright::{Answer, Catalog, StoredAnswer, ToolError};

use super::AnswerBudget;
use super::excerpt::{Terms, shortened};
use super::reference::{FoundAnswer, KnownAnswers, has_reference, resolved};
use super::text::{text_of, value_in};
use super::tools;
use crate::history::Message;

type Answered = Arc<[(ToolCall, Answer)]>;

/// The answers of a run. Clones share the same answers.
#[derive(Clone)]
pub(crate) struct Results(Arc<Inner>);

/// A weak reference to the answers of a run.
#[derive(Clone)]
pub(super) struct WeakResults(Weak<Inner>);

impl WeakResults {
    /// Returns the answers of the run; no answers if the run was dropped.
    pub(super) fn upgraded(&self) -> Results {
        let gone = || Results::new(&AnswerBudget::unlimited(), false, &[]);
        self.0.upgrade().map_or_else(gone, Results)
    }
}

struct Inner {
    budget: AnswerBudget,
    /// Whether the dialects of all models of the run allow a reference in place of an argument of another type.
    may_refer: bool,
    turns: Mutex<Turns>,
}

#[derive(Default)]
struct Turns {
    turns: Vec<Turn>,
    /// The number of answers in all turns.
    answers: usize,
    /// The tools that read large answers; `None` until an answer is large.
    tools: Option<Catalog>,
}

/// The answers of one message.
struct Turn {
    /// How many answers the run had before this message.
    before: usize,
    answered: Answered,
    /// The answers in the form that is sent to the model, if one of them is shortened.
    sent: Option<Answered>,
}

impl Results {
    /// Takes the answers from a history, which may be empty.
    pub(crate) fn new(budget: &AnswerBudget, may_refer: bool, history: &[Message]) -> Self {
        let (budget, turns) = (budget.clone(), Mutex::default());
        let results = Self(Arc::new(Inner { budget, may_refer, turns }));
        history.iter().for_each(|message| results.add(message));
        results
    }

    pub(super) fn downgraded(&self) -> WeakResults {
        WeakResults(Arc::downgrade(&self.0))
    }

    /// Adds the answers of a message that was appended to the history.
    pub(crate) fn add(&self, message: &Message) {
        let Message::ToolResults(answered) = message else { return };
        let mut turns = self.turns();
        let before = turns.answers;
        let sent = self.sent(answered, before);
        if sent.is_some() && turns.tools.is_none() {
            turns.tools = Some(tools::catalog(&self.downgraded()));
        }
        turns.answers += answered.len();
        turns.turns.push(Turn { before, answered: Arc::clone(answered), sent });
    }

    /// Returns the answers of a message in the form that is sent to the model; `None` if none of them is too long.
    fn sent(&self, answered: &Answered, before: usize) -> Option<Answered> {
        let Inner { budget, may_refer, .. } = &*self.0;
        let short = |index: usize, (call, answer): &(ToolCall, Answer)| {
            let limit = budget.of(&call.name).filter(|_| !tools::is_one(&call.name))?;
            let handle = handle(before + index);
            shortened(answer, Terms { handle: &handle, budget: limit, may_refer: *may_refer })
        };
        let short: Vec<Option<Answer>> =
            answered.iter().enumerate().map(|(index, it)| short(index, it)).collect();
        if short.iter().all(Option::is_none) {
            return None;
        }
        let whole = |answer: &Answer| StoredAnswer::from(answer).into_answer();
        let sent = answered.iter().zip(short);
        let sent = sent
            .map(|((call, answer), short)| (call.clone(), short.unwrap_or_else(|| whole(answer))));
        Some(sent.collect())
    }

    /// Returns a history in the form that is sent to the model.
    pub(crate) fn sent_history<'h>(&self, history: &'h [Message]) -> Cow<'h, [Message]> {
        let turns = self.turns();
        if turns.turns.iter().all(|turn| turn.sent.is_none()) {
            return history.into();
        }
        let mut turns = turns.turns.iter();
        let sent = history.iter().map(|message| match message {
            Message::ToolResults(_) => {
                let sent = turns.next().and_then(|turn| turn.sent.as_ref());
                sent.map_or_else(|| message.clone(), |sent| Message::ToolResults(Arc::clone(sent)))
            }
            other => other.clone(),
        });
        sent.collect::<Vec<_>>().into()
    }

    /// Returns the tools that read large answers, if the run has a large answer.
    pub(crate) fn tools(&self) -> Option<Catalog> {
        self.turns().tools.clone()
    }

    /// Resolves the references of a call; `None` if the call has none.
    ///
    /// # Errors
    /// When a reference has no value, or is in an argument that may not have references.
    pub(crate) fn resolved(
        &self,
        call: &ToolCall,
        catalog: &Catalog,
    ) -> Result<Option<ToolCall>, ToolError> {
        if !has_reference(&call.arguments) || !self.0.budget.refers(&call.name) {
            return Ok(None);
        }
        let known = Resolving { results: self, tool: &call.name, catalog };
        let arguments = resolved(&call.arguments, &known)?;
        Ok(arguments.map(|arguments| ToolCall { arguments, ..call.clone() }))
    }

    /// Applies a function to an answer; `None` if the run has no answer with this handle.
    pub(super) fn with_answer<T>(
        &self,
        handle: &str,
        make: impl FnOnce(&Answer) -> T,
    ) -> Option<T> {
        let (answered, index) = {
            let turns = self.turns();
            let index = index(handle)?;
            let turn = turns.turns.iter().rfind(|turn| turn.before <= index)?;
            (Arc::clone(&turn.answered), index - turn.before)
        };
        answered.get(index).map(|(_, answer)| make(answer))
    }

    /// Lists the handles of the answers as a text.
    pub(super) fn handles(&self) -> String {
        match self.turns().answers {
            0 => "it has none yet".to_owned(),
            1 => format!("it has {}", handle(0)),
            answers => format!("it has {} to {}", handle(0), handle(answers - 1)),
        }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.0.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn handle(index: usize) -> String {
    format!("lr_{}", index + 1)
}

fn index(handle: &str) -> Option<usize> {
    let digits = handle.strip_prefix("lr_")?;
    let is_written_so = digits.bytes().all(|it| it.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse::<usize>().ok().filter(|_| is_written_so)?.checked_sub(1)
}

/// Resolves the references in the arguments of one call.
struct Resolving<'r> {
    results: &'r Results,
    tool: &'r str,
    catalog: &'r Catalog,
}

impl KnownAnswers for Resolving<'_> {
    fn answer(&self, handle: &str) -> Option<FoundAnswer> {
        self.results.with_answer(handle, |answer| {
            let text = text_of(answer);
            match value_in(answer, &text) {
                Some(value) => FoundAnswer::Value(value),
                None => FoundAnswer::Text(text.into_owned()),
            }
        })
    }

    fn handles(&self) -> String {
        self.results.handles()
    }

    /// Refuses secret arguments. The arguments of an unknown tool may be secret. In a tool with secrets, a key that is no
    /// parameter may be repaired to the name of a secret.
    fn refusal(&self, argument: &str) -> Option<String> {
        let Some(definition) = self.catalog.get(self.tool) else {
            return Some(format!("no tool `{}` is known that takes a reference", self.tool));
        };
        if definition.secrets().any(|secret| secret == argument) {
            let why = "it is secret, and takes no reference; write the value itself";
            return Some(why.to_owned());
        }
        let is_known = definition
            .all_parameters()
            .any(|it| it.name == argument || (!it.secret && it.aliases.contains(&argument)));
        let may_be_secret = !is_known && definition.secrets().next().is_some();
        may_be_secret
            .then(|| format!("`{}` has no such parameter, and takes no reference in it", self.tool))
    }
}
