//! A run whose model is away, or whose journal cannot take the answer of its model.

use std::time::Duration;

use futures::FutureExt as _;
use toolwright::journal::DocumentWrite;
use uuid::Uuid;

use super::RunError;
use super::head::Head;
use super::outage::{self, Failed, Outage};
use super::patience::Patience;
use super::record::RunRecord;
use crate::model::ModelError;
use crate::run::{Away, State, cancellation};

impl RunRecord {
    /// Records the outage of the model and gives the run back; the error that ends the run where the outage has lasted for too long.
    pub(super) async fn rest(
        &mut self,
        state: &State,
        error: ModelError,
    ) -> Result<Away<RunError>, RunError> {
        let head = self.recorded.head.clone();
        let now = self.recorded.access().now();
        let failed = Failed { kind: error.kind(), retry_after: error.retry_after() };
        let random = Uuid::now_v7().as_u64_pair().1;
        let limit = state.limits().outage;
        let Some(outage) = outage::after(head.outage.as_ref(), failed, limit, now, random) else {
            return Ok(Away::TooLong(unreachable(head.outage.as_ref(), limit, &error)));
        };
        let left = RunError::away(&head.run, &outage);
        let head =
            Head { lease: None, crashes: None, outage: Some(outage), ..self.head_of(state)? };
        self.recorded.commit(head, Vec::new()).await?;
        Ok(Away::Left(left))
    }

    /// Records an answer of the model. It was paid for, so that it is held while the journal fails, until this process ends its work
    /// or the run is cancelled here.
    pub(super) async fn commit_answer(
        &mut self,
        head: Head,
        documents: Vec<DocumentWrite>,
    ) -> Result<(), RunError> {
        let (executor, token) = (self.agent.0.executor.clone(), self.token.clone());
        let given_up = async move {
            tokio::select! {
                () = executor.draining() => {}
                () = cancellation(token.as_ref()) => {}
            }
        };
        let until = head.lease.as_ref().map(|lease| lease.until);
        let held = Patience::HeldUntil(given_up.boxed());
        self.recorded.commit_with(held, head, documents).await?;
        match until.is_some_and(|until| until <= self.recorded.access().now()) {
            // It was held for longer than the lease.
            true => self.recorded.renew().await,
            false => Ok(()),
        }
    }
}

/// The error that ends a run whose model was away for too long.
fn unreachable(outage: Option<&Outage>, limit: Duration, error: &ModelError) -> ModelError {
    let since = outage.map_or_else(String::new, |it| format!(" since {}", it.since));
    let hours = limit.as_secs_f64() / 3600.0;
    let message = format!(
        "the model was away{since}, longer than the {hours:.1} hours that a run waits; start the run again when it is back, or set \
         a longer `outage_limit`. Last: {}",
        error.message()
    );
    ModelError::new("model_unreachable", message)
}
