//! Makes a run from the first turns of another run.

use jiff::{SignedDuration, Timestamp};
use toolwright::journal::{CallSlot, CommitError, DocumentWrite, SealingKey, Store, Transaction};
use toolwright::provider::ToolCall;
use toolwright::unstable::runs::{is_under_way, untrusted_key};
use toolwright::{Answer, Content, StoredAnswer};

use super::RunError;
use super::body::Body;
use super::head::{Forked, Head, Phase, Rewound, written};
use super::keys::{self, Part};
use super::recorded::ListEntry;
use super::turn::{self, Answers, EndsIn, ModelAnswered, RecordedTurn, TurnPrompt};
use crate::events::RunEnd;
use crate::history::{Message, Summary};
use crate::plugin::PluginTurn;
use crate::run::{CUT_SHORT, NOT_THE_VALUE, SENT_BACK, State, correction};

/// The parameters of a fork, apart from the old run and the new one.
pub(super) struct Forking<'a> {
    pub store: &'a dyn Store,
    pub sealing: Option<&'a SealingKey>,
    pub now: Timestamp,
}

/// Records a run with the id `new`, which has the turns of another run up to `last`.
pub(super) async fn fork(
    forking: &Forking<'_>,
    head: &Head,
    last: u64,
    new: &str,
) -> Result<Head, RunError> {
    let (head, documents) = documents_of_fork(forking, head, last, new, None).await?;
    let unit = Transaction { documents, ..Transaction::default() };
    match forking.store.commit(unit, forking.now).await {
        Ok(()) => Ok(head),
        Err(CommitError::Store(error)) => Err(error.into()),
        Err(_) => Err(RunError::Exists { run: new.to_owned() }),
    }
}

/// Returns the head of a run with the id `new`, which has the turns of another run up to `last`, and the documents that
/// record this new run.
pub(super) async fn documents_of_fork(
    forking: &Forking<'_>,
    head: &Head,
    last: u64,
    new: &str,
    rewound: Option<Rewound>,
) -> Result<(Head, Vec<DocumentWrite>), RunError> {
    if let Some(why) = keys::problem(new) {
        return Err(RunError::Id { run: new.to_owned(), why });
    }
    if forking.store.document(&keys::removed(new)).await?.is_some() {
        return Err(RunError::Exists { run: new.to_owned() });
    }
    if last == 0 || last > head.turn {
        let why = format!("has no turn {last}, found {} turns; name one of them", head.turn);
        return Err(RunError::NotNow { run: head.run.clone(), why });
    }
    let state = head.state(forking.sealing)?;
    let mut copy = Copy {
        forking,
        head,
        state,
        new,
        ends_in: None,
        called: false,
        has_calls: false,
        documents: Vec::new(),
    };
    let mut end = None;
    for number in 1..=last {
        end = copy.turn(number, number == last).await?;
    }
    let run = &copy.head.run;
    let head = Head { rewound, ..copy.head(last, end)? };
    let mut documents = copy.documents;
    let key = keys::head(new);
    let text = head.text().map_err(|error| RunError::damaged(&key, error))?;
    documents.push(DocumentWrite { key, expects: None, text: Some(text) });
    let listed = match head.phase {
        Phase::Ended => keys::ended(new),
        _ => keys::open(new),
    };
    let text = written(&ListEntry { agent: &head.agent, since: head.created })
        .map_err(|error| RunError::damaged(&listed, error))?;
    documents.push(DocumentWrite { key: listed, expects: None, text: Some(text) });
    documents.push(keys::not_removed(new));
    documents.extend(read_of_strangers(forking.store, run, new).await?);
    Ok((head, documents))
}

/// Copies the record of the untrusted texts that a run has read. The fork gets the whole record, because the record
/// does not say in which turn the run read a text. The sources that the copied answers name cannot replace the record:
/// a tool of the application may fetch a page itself and answer in its own words, without naming the page.
async fn read_of_strangers(
    store: &dyn Store,
    run: &str,
    new: &str,
) -> Result<Option<DocumentWrite>, RunError> {
    let read = store.document(&untrusted_key(run)).await?;
    let key = untrusted_key(new);
    Ok(read.map(|read| DocumentWrite { key, expects: None, text: Some(read.text) }))
}

struct Copy<'a> {
    forking: &'a Forking<'a>,
    head: &'a Head,
    /// The state of the run that is forked.
    state: State,
    new: &'a str,
    /// Whether the run had to end in a text or in a value, as of the last copied turn.
    ends_in: Option<EndsIn>,
    /// Whether calls were answered since the user's last message, as of the last copied turn.
    called: bool,
    /// Whether the last copied turn has calls.
    has_calls: bool,
    documents: Vec<DocumentWrite>,
}

impl Copy<'_> {
    /// Copies a turn. For the last turn, returns how the new run ends after it; `None` if its model has to answer next.
    async fn turn(&mut self, number: u64, is_last: bool) -> Result<Option<RunEnd>, RunError> {
        let run = &self.head.run;
        let Forking { store, sealing, .. } = *self.forking;
        let found = turn::read_turn(store, run, number, sealing).await?;
        let RecordedTurn {
            said,
            answer,
            model,
            usage,
            cost,
            prices,
            answers,
            guards,
            ends_in,
            ended,
            left_out,
            is_answered,
        } = found;
        if !is_answered {
            let why = format!(
                "it is missing, expected it because the head is at turn {}; restore the journal",
                self.head.turn
            );
            return Err(RunError::Damaged { key: Part::Answer.key(run, number), why });
        }
        let is_continued = said.is_empty() || self.has_calls;
        if !said.is_empty() {
            self.ends_in.clone_from(&ends_in);
            let guards = Vec::new();
            self.write(Part::Said, number, &TurnPrompt { messages: said, ends_in, guards })?;
        }
        let calls: Vec<ToolCall> = answer.as_ref().map_or(&[][..], Message::calls).to_vec();
        if !calls.is_empty() && answers.is_none() {
            let why = format!(
                "has calls without an answer in turn {number}; name an earlier turn, or wait for the answers"
            );
            return Err(RunError::NotNow { run: run.clone(), why });
        }
        // A message that follows the answers of calls was sent while the run worked.
        self.called = !calls.is_empty() || (self.called && is_continued);
        self.has_calls = !calls.is_empty();
        let key = Part::Plugins.key(run, number);
        if let Some(found) = store.document(&key).await? {
            self.write(Part::Plugins, number, &turn::opened::<PluginTurn>(&found, sealing)?)?;
        }
        let key = Part::Summary.key(run, number);
        if let Some(found) = store.document(&key).await? {
            self.write(Part::Summary, number, &turn::opened::<Summary>(&found, sealing)?)?;
        }
        let text = match &answer {
            Some(Message::Assistant { text, .. }) if calls.is_empty() => Some(text.clone()),
            _ => None,
        };
        let answered = ModelAnswered {
            message: answer,
            model,
            usage,
            cost,
            prices,
            ended: ended.clone(),
            left_out,
            guards,
        };
        self.write(Part::Answer, number, &answered)?;
        if let Some(Message::ToolResults(answered)) = answers {
            let mut marked = Vec::with_capacity(answered.len());
            for (index, (call, answer)) in (0..).zip(answered.iter()) {
                marked.push((call.clone(), self.mark(number, index, answer).await?));
            }
            self.write(Part::Answers, number, &Answers { message: Message::tool_results(marked) })?;
        }
        let is_at_end = number == self.head.turn;
        let ended = ended.or_else(|| self.state.outcome().filter(|_| is_at_end).cloned());
        match (ended, text) {
            _ if !is_last => Ok(None),
            (Some(ended @ RunEnd::Output { .. }), _) => Ok(Some(ended)),
            // The next request has to tell the model what is wrong with its text. If the model gave its value by a
            // call, the answer of the call says so already.
            (Some(RunEnd::InvalidOutput { problems, .. }), Some(_)) => {
                let correction = Message::user(correction(&problems.join("\n")));
                self.correct(number, correction)?;
                Ok(None)
            }
            (ended, Some(text)) => self.end(number, text, ended).await,
            // This turn has no text. A guard may have sent back its answer, with calls or empty.
            (_, None) => {
                if let Some(said) = self.said_after(number).await?
                    && is_correction(&said, self.is_typed())
                {
                    self.correct(number, said)?;
                }
                Ok(None)
            }
        }
    }

    /// Returns how the new run ends if its last turn is a text. Returns `None` if the old run asked its model again
    /// after that text without a message of the user.
    async fn end(
        &mut self,
        number: u64,
        text: String,
        ended: Option<RunEnd>,
    ) -> Result<Option<RunEnd>, RunError> {
        if let Some(RunEnd::Text { .. }) = ended {
            return Ok(ended);
        }
        // The old run did not end with this text: its user sent another message, or the run itself asked its model
        // again.
        match self.said_after(number).await? {
            None => Ok(None),
            Some(correction) if is_correction(&correction, self.is_typed()) => {
                self.correct(number, correction)?;
                Ok(None)
            }
            Some(_) => Ok(Some(RunEnd::Text { text, cut_short: false })),
        }
    }

    /// Returns the first message after a turn that the user sent, or that the run sent in the user's name.
    async fn said_after(&self, number: u64) -> Result<Option<Message>, RunError> {
        let Forking { store, sealing, .. } = *self.forking;
        let next = turn::read_turn(store, &self.head.run, number + 1, sealing).await?;
        Ok(next.said.into_iter().next())
    }

    /// Writes the correction with which the new run asks its model after the last copied turn. Messages of the user
    /// that came with the correction belong to turns that are not copied.
    fn correct(&mut self, number: u64, correction: Message) -> Result<(), RunError> {
        let (messages, ends_in) = (vec![correction], self.ends_in.clone());
        let said = TurnPrompt { messages, ends_in, guards: Vec::new() };
        self.write(Part::Said, number + 1, &said)
    }

    /// Returns whether the run had to end in a value as of the last copied turn.
    fn is_typed(&self) -> bool {
        match &self.ends_in {
            Some(EndsIn::Value(_)) => true,
            Some(EndsIn::Text) => false,
            None => self.state.expected().is_some(),
        }
    }

    /// Returns a copy of the answer of a call. A journalled call may have had an effect, so the copy names the run in
    /// which the call ran.
    async fn mark(&self, turn: u64, index: u32, answer: &Answer) -> Result<Answer, RunError> {
        let run = self.head.run.clone();
        let copied = || StoredAnswer::from(answer).into_answer();
        let slot = CallSlot { run, turn: Some(turn), index };
        let Some(record) = self.forking.store.at(&slot).await? else { return Ok(copied()) };
        let run = &self.head.run;
        let note = match is_under_way(answer, record.id) {
            true => {
                format!("[this happens in run {run}: a result that is not below goes there alone]")
            }
            false => {
                format!("[this happened in run {run}, turn {turn}, and not again in this run]")
            }
        };
        Ok(match answer.error() {
            Some(error) => {
                let hint = error.next_action().map(|hint| format!("{hint}; {note}"));
                error.with_more(None).hint(hint.unwrap_or(note)).into()
            }
            None => answer.with(Content::text(note)).unwrap_or_else(copied),
        })
    }

    fn write(
        &mut self,
        part: Part,
        number: u64,
        body: &impl serde::Serialize,
    ) -> Result<(), RunError> {
        let key = part.key(self.new, number);
        let text = turn::text(body, &key, self.forking.sealing)?;
        self.documents.push(DocumentWrite { key, expects: None, text: Some(text) });
        Ok(())
    }

    fn head(&self, turn: u64, end: Option<RunEnd>) -> Result<Head, RunError> {
        let (from, to) = (keys::head(&self.head.run), keys::head(self.new));
        let sealing = self.forking.sealing;
        let data: serde_json::Value = self.head.data.open(&format!("{from}#data"), sealing)?;
        let phase = if end.is_some() { Phase::Ended } else { Phase::Asking };
        let expected = match &self.ends_in {
            Some(EndsIn::Value(expected)) => Some(expected.clone()),
            Some(EndsIn::Text) => None,
            // Earlier releases recorded only the current output type.
            None => self.state.expected().cloned(),
        };
        let ended = end.as_ref().map(|end| end.name().to_owned());
        let state = self.state.at(turn, end, expected, self.called);
        let time = state.limits().time.and_then(|it| SignedDuration::try_from(it).ok());
        Head {
            run: self.new.to_owned(),
            phase,
            turn,
            spent: state.spent(),
            prices: None,
            ended,
            waiting: Vec::new(),
            epoch: 0,
            lease: None,
            crashes: None,
            parked: None,
            outage: None,
            cancelled: None,
            deadline: time.and_then(|it| self.forking.now.checked_add(it).ok()),
            created: self.forking.now,
            updated: self.forking.now,
            forked: Some(Forked { run: self.head.run.clone(), turn }),
            data: Body::of(&data, &format!("{to}#data"), sealing)?,
            ..self.head.clone()
        }
        .with_state(&state, sealing)
    }
}

/// Returns whether a message is a correction that the run itself sent to the model, judged by the text of the message.
fn is_correction(message: &Message, is_typed: bool) -> bool {
    let Message::User { text, .. } = message else { return false };
    text == CUT_SHORT
        || text.starts_with(SENT_BACK)
        || (is_typed && text.starts_with(NOT_THE_VALUE))
}
