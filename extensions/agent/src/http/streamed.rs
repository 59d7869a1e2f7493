//! Reads a streamed answer: takes bytes, passes deltas to the listener, and returns the text of the whole answer. This
//! module does no I/O.
//!
//! The key is removed from everything that reaches the listener, even if the key is split between two pieces. Text
//! whose end could be the beginning of the key is held back until more text arrives, a call begins, or the answer ends.

use std::collections::BTreeMap;

use toolwright::dialect::Listing;
use toolwright::provider::{MessageStream, Provider, StreamError, StreamEvent, ToolCall};

use super::HttpModel;
use super::key::Secret;
use crate::limits::UsageRecorder;
use crate::model::{Delta, DeltaListener, ModelAnswer};

/// The stream of one answer. Parts of the answer are passed to the listener as they arrive.
pub(super) struct Pieces<'a> {
    stream: MessageStream,
    provider: Provider,
    listing: &'a Listing,
    key: Option<&'a Secret>,
    listener: &'a dyn DeltaListener,
    expense: Expense<'a>,
    /// Text held back because it may be the beginning of the key.
    held: BTreeMap<Of, String>,
}

/// The model and the recorder by which the usage of an arriving answer is reported.
pub(super) struct Expense<'a> {
    pub(super) model: &'a HttpModel,
    pub(super) meter: &'a UsageRecorder,
}

impl Expense<'_> {
    /// Reports the tokens that the provider has counted so far.
    fn note(&self, stream: &MessageStream) {
        let usage = stream.usage().and_then(|usage| self.model.endpoint.api.usage(&usage));
        if let Some(usage) = usage {
            self.meter.so_far(self.model.spent(usage));
        }
    }
}

/// The part of the answer that a text belongs to.
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

    /// Takes the next bytes, and returns whether the answer is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, StreamError> {
        for event in self.stream.push(bytes)? {
            self.notify(event);
        }
        Ok(self.stream.is_whole())
    }

    /// Returns how many bytes of the answer have arrived.
    pub(super) fn size(&self) -> usize {
        self.stream.size()
    }

    /// Returns the text of the whole answer, as the provider would have sent it in one piece.
    pub(super) fn finish(mut self) -> Result<String, StreamError> {
        let held: Vec<Of> = self.held.keys().copied().collect();
        held.into_iter().for_each(|of| self.release(of));
        let whole = std::mem::replace(&mut self.stream, self.provider.stream());
        self.expense.note(&whole);
        whole.finish()
    }

    /// Passes the listener the parts of an answer that came in one piece although a stream was requested.
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
            // A newer release of the parser may add events.
            _ => self.listener.delta(Delta::Unknown { kind: "a kind without a name" }),
        }
    }

    /// Converts a call into the form that it has in the complete answer.
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

/// Reports the usage even if the caller no longer waits for the answer.
impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.expense.note(&self.stream);
    }
}
