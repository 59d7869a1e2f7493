//! A model that answers at once, and records when it was asked. The time between two requests is that of everything
//! around the model.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;
use toolwright_agent::{Model, ModelAnswer, ModelError, ModelRequest};

/// Returns the answer to a request by its number.
type Script = Box<dyn Fn(usize) -> ModelAnswer + Send + Sync>;

pub struct Timed {
    script: Script,
    asked: Mutex<Vec<Instant>>,
}

impl Timed {
    pub fn new(script: impl Fn(usize) -> ModelAnswer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), asked: Mutex::default() })
    }

    /// Makes a model that calls these tools, one in each answer, and then ends.
    pub fn calling(calls: Vec<(&'static str, String)>) -> Arc<Self> {
        Self::new(move |number| match calls.get(number) {
            None => ModelAnswer::text("Done."),
            Some((name, arguments)) => ModelAnswer::new(
                "",
                vec![ToolCall {
                    id: Some(format!("call_{number}")),
                    name: (*name).to_owned(),
                    arguments: arguments.clone(),
                }],
            ),
        })
    }

    /// Returns when each request came since the last time, and starts the script again.
    pub fn take(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.asked())
    }

    fn asked(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time between two requests, by their numbers.
pub fn between(asked: &[Instant], first: usize, second: usize) -> Result<Duration> {
    let at = |number: usize| asked.get(number).with_context(|| format!("no request {number} came"));
    Ok(*at(second)? - *at(first)?)
}

impl Model for Timed {
    fn name(&self) -> &str {
        "timed"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let now = Instant::now();
        Box::pin(async move {
            let number = {
                let mut asked = self.asked();
                asked.push(now);
                asked.len() - 1
            };
            Ok((self.script)(number))
        })
    }
}
