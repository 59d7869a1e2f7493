//! Chooses the model of a ticket.

use std::pin::Pin;
use std::sync::Arc;

use toolwright::agent::{IntoModel as _, Model, ModelNameError};

use crate::ticket::Ticket;

/// A future that returns a model.
pub type FutureModel<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Model>, String>> + Send + 'a>>;

/// Chooses a model for each ticket.
pub trait Models: Send + Sync {
    /// Returns the model of a ticket. `answers` is how often a model has answered in its run.
    ///
    /// # Errors
    /// When there is no model; the message is for a person.
    fn model<'a>(&'a self, ticket: &'a Ticket, answers: u64) -> FutureModel<'a>;
}

/// One model for all tickets.
pub struct OneModel(Arc<dyn Model>);

impl OneModel {
    /// Finds a model by its name, such as `anthropic:claude-sonnet-4-6`.
    ///
    /// # Errors
    /// When the model is unknown or has no key. This is found out before a ticket is claimed.
    pub fn named(name: &str) -> Result<Self, ModelNameError> {
        Ok(Self(Arc::from(name.into_model()?)))
    }
}

impl Models for OneModel {
    fn model<'a>(&'a self, _: &'a Ticket, _: u64) -> FutureModel<'a> {
        Box::pin(async { Ok(Arc::clone(&self.0)) })
    }
}
