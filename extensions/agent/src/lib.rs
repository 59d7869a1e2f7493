//! The loop of an agent over [`toolwright`]: asks a [`Model`], runs the calls of its answer as one turn, gives the
//! answers back, until the task is done.
#![warn(missing_docs)]

mod message;
mod model;
mod model_error;

pub use self::message::{Message, Verbatim};
pub use self::model::{Model, ModelAnswer, ModelRequest, RequestLimits, StopReason, Usage};
pub use self::model_error::ModelError;

#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "http", feature = "testing"))]
pub mod recording;
#[cfg(feature = "testing")]
mod replay;
#[cfg(feature = "testing")]
pub mod testing;
