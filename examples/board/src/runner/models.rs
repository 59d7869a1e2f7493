//! Which model works on a ticket.

use std::pin::Pin;
use std::sync::Arc;

use toolwright::agent::{IntoModel as _, Model, ModelNameError};

use crate::ticket::Ticket;

/// A model, once it is there.
pub type FutureModel<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Model>, String>> + Send + 'a>>;

/// Gives each ticket its model.
pub trait Models: Send + Sync {
    /// Returns the model of a ticket, in whose run the model has answered so often before.
    ///
    /// # Errors
    /// When there is none; the words are for a person.
    fn model<'a>(&'a self, ticket: &'a Ticket, answers: u64) -> FutureModel<'a>;
}

/// One model for all tickets.
pub struct OneModel(Arc<dyn Model>);

impl OneModel {
    /// Takes a model by its name, such as `anthropic:claude-sonnet-4-6`.
    ///
    /// # Errors
    /// When it is not known, or has no key: before a ticket is claimed.
    pub fn named(name: &str) -> Result<Self, ModelNameError> {
        Ok(Self(Arc::from(name.into_model()?)))
    }
}

impl Models for OneModel {
    fn model<'a>(&'a self, _: &'a Ticket, _: u64) -> FutureModel<'a> {
        Box::pin(async { Ok(Arc::clone(&self.0)) })
    }
}
