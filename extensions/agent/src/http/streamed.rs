//! An answer that comes in pieces: bytes in, deltas to the listener, and at last the text of the whole answer. No I/O.
//!
//! What a server says reaches the listener without the key, also where the key is split between two pieces: a text whose
//! end could be the begin of the key waits for what follows.

use std::collections::BTreeMap;

use toolwright::dialect::Listing;
use toolwright::provider::{MessageStream, Provider, StreamError, StreamEvent, ToolCall};

use super::HttpModel;
use super::key::Secret;
use crate::limits::UsageRecorder;
use crate::model::{Delta, DeltaListener, ModelAnswer};

/// The pieces of one answer.
pub(super) struct Pieces<'a> {
    stream: MessageStream,
    provider: Provider,
    listing: &'a Listing,
    key: Option<&'a Secret>,
    listener: &'a dyn DeltaListener,
    expense: Expense<'a>,
    /// What may be the begin of the key.
    held: BTreeMap<Of, String>,
}

/// What an answer takes that has not ended.
pub(super) struct Expense<'a> {
    pub(super) model: &'a HttpModel,
    pub(super) meter: &'a UsageRecorder,
}

impl Expense<'_> {
    /// Notes what the provider has said so far.
    fn note(&self, stream: &MessageStream) {
        let usage = stream.usage().and_then(|usage| self.model.endpoint.api.usage(&usage));
        if let Some(usage) = usage {
            self.meter.so_far(self.model.spent(usage));
        }
    }
}

/// What a piece of text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Reasoning,
    Text,
    Arguments(usize),
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        listing: &'a Listing,
        key: Option<&'a Secret>,
        listener: &'a dyn DeltaListener,
        expense: Expense<'a>,
    ) -> Self {
        let provider = expense.model.endpoint.api.provider();
        let (stream, held) = (provider.stream(), BTreeMap::new());
        Self { stream, provider, listing, key, listener, expense, held }
    }

    /// Takes the next bytes, and says whether the answer is whole.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, StreamError> {
        for event in self.stream.push(bytes)? {
            self.notify(event);
        }
        Ok(self.stream.is_whole())
    }

    /// The whole answer, as the provider would have sent it at once.
    pub(super) fn finish(mut self) -> Result<String, StreamError> {
        let held: Vec<Of> = self.held.keys().copied().collect();
        held.into_iter().for_each(|of| self.release(of));
        let whole = std::mem::replace(&mut self.stream, self.provider.stream());
        self.expense.note(&whole);
        whole.finish()
    }

    /// An answer that came at once all the same.
    pub(super) fn came_whole(self, answer: &ModelAnswer) {
        if !answer.text.is_empty() {
            self.listener.delta(Delta::Text(&answer.text));
        }
        for (index, call) in answer.calls.iter().enumerate() {
            self.listener.delta(Delta::CallBegan { index, name: &call.name });
            self.listener.delta(Delta::CallWhole { index, call });
        }
    }

    fn notify(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Text(text) => self.forward(Of::Text, text),
            StreamEvent::Reasoning(text) => self.forward(Of::Reasoning, text),
            StreamEvent::Arguments { index, delta, .. } => {
                self.forward(Of::Arguments(index), delta)
            }
            StreamEvent::CallBegan { index, name, .. } => {
                self.release(Of::Reasoning);
                self.release(Of::Text);
                let call = ToolCall { id: None, name, arguments: String::new() };
                let ToolCall { name, .. } = self.received(call);
                self.listener.delta(Delta::CallBegan { index, name: &name });
            }
            StreamEvent::Call { index, call, .. } => {
                self.release(Of::Arguments(index));
                let call = self.received(call);
                self.listener.delta(Delta::CallWhole { index, call: &call });
            }
            StreamEvent::ProviderTool { name, .. } => {
                self.listener.delta(Delta::ProviderTool { name: &self.without_key(name) });
            }
            StreamEvent::Unknown { kind, .. } => {
                self.listener.delta(Delta::Unknown { kind: &self.without_key(kind) });
            }
            // Kinds of a newer release of the parser.
            _ => self.listener.delta(Delta::Unknown { kind: "a kind without a name" }),
        }
    }

    /// A call as the answer will hold it.
    fn received(&self, call: ToolCall) -> ToolCall {
        self.listing.received(ToolCall {
            id: call.id.map(|id| self.without_key(id)),
            name: self.without_key(call.name),
            arguments: self.without_key(call.arguments),
        })
    }

    fn forward(&mut self, of: Of, text: String) {
        let Some(key) = self.key else { return self.pass_on(of, &text) };
        let held = self.held.remove(&of).unwrap_or_default();
        let mut text = key.removed_from(held + &text);
        let rest = text.split_off(key.may_begin_in(&text));
        if !rest.is_empty() {
            self.held.insert(of, rest);
        }
        self.pass_on(of, &text);
    }

    fn release(&mut self, of: Of) {
        if let Some(text) = self.held.remove(&of) {
            self.pass_on(of, &text);
        }
    }

    fn pass_on(&self, of: Of, text: &str) {
        if text.is_empty() {
            return;
        }
        self.listener.delta(match of {
            Of::Text => Delta::Text(text),
            Of::Reasoning => Delta::Reasoning(text),
            Of::Arguments(index) => Delta::Arguments { index, text },
        });
    }

    fn without_key(&self, text: String) -> String {
        match self.key {
            Some(key) => key.removed_from(text),
            None => text,
        }
    }
}

/// Ends the pieces also where the answer is not awaited any more.
impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.expense.note(&self.stream);
    }
}
