//! Which model works on a ticket.

use std::pin::Pin;
use std::sync::Arc;

use toolwright::agent::{IntoModel as _, Model};

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

/// One model for all tickets, by its name, such as `anthropic:claude-sonnet-4-6`.
#[derive(Debug, Clone)]
pub struct NamedModel(pub String);

impl Models for NamedModel {
    fn model<'a>(&'a self, _: &'a Ticket, _: u64) -> FutureModel<'a> {
        Box::pin(async {
            let model = self.0.as_str().into_model().map_err(|error| error.to_string())?;
            Ok(Arc::from(model))
        })
    }
}
