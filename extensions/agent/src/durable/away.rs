//! Handles a run whose model is unavailable, or whose journal cannot take the answer of its model.

use std::time::Duration;

use futures::FutureExt as _;
use toolwright::journal::DocumentWrite;
use uuid::Uuid;

use super::RunError;
use super::head::Head;
use super::outage::{self, Beyond, FailedRequest, Outage};
use super::patience::Patience;
use super::record::RunRecord;
use crate::model::ModelError;
use crate::run::{Away, State, cancellation};

impl RunRecord {
    /// Records the outage of the model and releases the run. Returns the error that ends the run if the outage has
    /// lasted too long.
    pub(super) async fn rest(
        &mut self,
        state: &State,
        error: ModelError,
    ) -> Result<Away<RunError>, RunError> {
        let head = self.recorded.head.clone();
        let now = self.recorded.access().now();
        let paid = error.spent().requests();
        let failed = FailedRequest {
            kind: error.kind(),
            message: error.message(),
            retry_after: error.retry_after(),
            paid,
        };
        let random = Uuid::now_v7().as_u64_pair().1;
        let limit = state.limits().outage;
        let mut outage = match outage::after(head.outage.as_ref(), failed, limit, now, random) {
            Ok(outage) => outage,
            Err(beyond) => {
                return Ok(Away::TooLong(ended(beyond, head.outage.as_ref(), limit, &error)));
            }
        };
        let left = RunError::away(&head.run, &outage);
        // The head is plain text in an encrypted journal too, and a provider may quote the request in its error.
        outage.message.take_if(|_| self.recorded.access().sealing.is_some());
        let head = Head { lease: None, outage: Some(outage), ..self.head_of(state)? };
        // Only this commit records the usage of the failed requests, so it is retried like the commit of an answer.
        match paid {
            0 => self.recorded.commit(head, Vec::new()).await?,
            _ => self.commit_paid(head, Vec::new()).await?,
        }
        Ok(Away::Left(left))
    }

    /// Returns for how long to retry the commit of an answer that was paid for: as long as the journal fails, until
    /// this process drains its executor or the application cancels the run.
    pub(super) fn patience(&self) -> Patience<'static> {
        let (executor, token) = (self.agent.0.executor.clone(), self.token.clone());
        let given_up = async move {
            tokio::select! {
                () = executor.draining() => {}
                () = cancellation(token.as_ref()) => {}
            }
        };
        Patience::HeldUntil(given_up.boxed())
    }

    /// Prepares the writes that list the run as open or as ended. Retries while the journal cannot be read.
    pub(super) async fn listed_for_the_paid(
        &self,
        is_ended: bool,
    ) -> Result<Vec<DocumentWrite>, RunError> {
        let mut patience = self.patience();
        for times in 1.. {
            match self.recorded.prepare_listing(is_ended).await {
                Err(RunError::Store(error)) => {
                    patience.after(&self.recorded.head.run, error, times).await?;
                }
                listed => return listed,
            }
        }
        Ok(Vec::new())
    }

    /// Commits the record of requests that were paid for. Retries the commit while the journal fails.
    pub(super) async fn commit_paid(
        &mut self,
        head: Head,
        documents: Vec<DocumentWrite>,
    ) -> Result<(), RunError> {
        let until = head.lease.as_ref().map(|lease| lease.until);
        self.recorded.commit_with(self.patience(), head, documents).await?;
        match until.is_some_and(|until| until <= self.recorded.access().now()) {
            // The retries took so long that the lease has ended.
            true => self.recorded.renew().await,
            false => Ok(()),
        }
    }
}

/// Returns the error that ends a run whose model is not asked again. The error carries the usage of the last requests.
fn ended(
    beyond: Beyond,
    outage: Option<&Outage>,
    limit: Duration,
    error: &ModelError,
) -> ModelError {
    let last = error.message();
    let (kind, message) = match beyond {
        Beyond::Limit => {
            let since = outage.map_or_else(String::new, |it| format!(" since {}", it.since));
            let hours = limit.as_secs_f64() / 3600.0;
            let message = format!(
                "the model was away{since}, longer than the {hours:.1} hours that a run waits; start the run again when it is back, or set \
                 a longer `outage_limit`. Last: {last}"
            );
            ("model_unreachable", message)
        }
        Beyond::Paid(times) => {
            let message = format!(
                "{times} requests for one answer of the model cost something and gave no whole answer: they timed out or broke \
                 off; set a longer `timeout`, or let the answer be shorter, and start the run again. Last: {last}"
            );
            ("no_whole_answer", message)
        }
    };
    ModelError::new(kind, message).taking(error.spent())
}
