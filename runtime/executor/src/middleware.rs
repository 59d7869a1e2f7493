//! Passes a call through the middleware of the application.

mod passing;

pub(crate) use passing::{EarlyEnd, EnteredStages, delay_of, enter};
