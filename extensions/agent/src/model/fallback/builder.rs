//! Gathers the models and options of a fallback.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use super::{Fallback, FellBack, OnFallback};
use crate::model::Model;

/// A builder for a [`Fallback`].
///
/// | option | default |
/// | --- | --- |
/// | [`then`](Self::then) | no other model |
/// | [`rest`](Self::rest) | one minute |
/// | [`budget`](Self::budget) | no limit but the run's own |
#[must_use]
pub struct FallbackBuilder {
    models: Vec<Box<dyn Model>>,
    rest: Duration,
    budget: Option<Duration>,
    on_fallback: Option<OnFallback>,
}

impl FallbackBuilder {
    pub(super) fn new(first: Box<dyn Model>) -> Self {
        Self { models: vec![first], rest: Duration::from_secs(60), budget: None, on_fallback: None }
    }

    /// Adds the model that is asked when every model before it has failed or rests.
    pub fn then(mut self, model: impl Model + 'static) -> Self {
        self.models.push(Box::new(model));
        self
    }

    /// Sets how long a model is not asked after a failure; longer if its provider asks for that. After a failure that
    /// an operator has to fix, such as a wrong key or a spent quota, the time is at least ten minutes. A failure that
    /// concerns only one request, such as one that is too long for the model, causes no such rest.
    pub fn rest(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Limits how long one answer may take over all models. The time that is left is shared evenly among the models
    /// that were not asked yet. A model that exceeds its share is abandoned, and the next is asked. Leave enough time
    /// for long answers.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Calls a listener before the next model is asked.
    pub fn on_fallback(mut self, listener: impl Fn(&FellBack<'_>) + Send + Sync + 'static) -> Self {
        self.on_fallback = Some(Box::new(listener));
        self
    }

    /// Makes the fallback.
    pub fn build(self) -> Fallback {
        let resting = Mutex::new(vec![None; self.models.len()]);
        Fallback {
            models: self.models,
            rest: self.rest,
            budget: self.budget,
            on_fallback: self.on_fallback,
            resting,
        }
    }
}

impl fmt::Debug for FallbackBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.models.iter().map(|model| model.name()).collect();
        formatter.debug_struct("FallbackBuilder").field("models", &names).finish_non_exhaustive()
    }
}
