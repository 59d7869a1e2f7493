//! Passes the progress of calls from the tool that reports it to the request that asked for it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;
use toolwright::{Outcome, ToolEvent, ToolEventKind};

use super::exchange::{Attending, Exchange};

/// How many progress reports of one call may wait to be sent; further ones are dropped.
const WAITING: usize = 64;

/// How long the answer to a call waits for the reports that were not sent yet, if the client reads slowly or not at all.
const LAST_REPORTS: Duration = Duration::from_secs(5);

/// A progress report that a tool has made.
#[derive(Debug)]
pub(super) struct Report {
    message: String,
    part: Option<f64>,
}

/// The requests that ask for progress, by the id that their call has in the executor.
#[derive(Debug, Default)]
pub(super) struct Reports(Mutex<HashMap<String, mpsc::Sender<Report>>>);

impl Reports {
    pub(super) fn receive(&self, event: &ToolEvent<'_>) {
        let (ToolEventKind::Progress { message, part }, Some(id)) = (event.kind, event.provider_id)
        else {
            return;
        };
        if let Some(request) = self.lock().get(id) {
            // If the client is slower than the tool, the report is dropped.
            let _ = request.try_send(Report { message: message.to_owned(), part });
        }
    }

    /// Returns the receiver of a call's reports, which gets reports until [`forget`](Self::forget) is called.
    pub(super) fn of(&self, call: &str) -> mpsc::Receiver<Report> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.lock().insert(call.to_owned(), sender);
        receiver
    }

    pub(super) fn forget(&self, call: &str) {
        self.lock().remove(call);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Report>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client's requests to which the progress of a call is reported.
pub(super) enum Audience {
    /// The request that makes the call.
    Request(Peer<RoleServer>, ProgressToken),
    /// The exchange of the call. Each report goes to the request that is being answered when the report is sent.
    Exchange(Arc<Exchange>),
}

impl Audience {
    /// Returns the requests to which the progress of a call is reported; `None` if the call's first request asks for no
    /// progress.
    pub(super) fn of(
        context: &RequestContext<RoleServer>,
        exchange: Option<&Arc<Exchange>>,
    ) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        Some(match exchange {
            Some(exchange) => Self::Exchange(Arc::clone(exchange)),
            None => Self::Request(context.peer.clone(), token),
        })
    }

    /// Performs a call and passes on its reports until the channel of reports is closed, which `performing` has to do at
    /// its end. The reports that were not dropped are sent before the answer.
    pub(super) async fn perform(
        &self,
        performing: impl Future<Output = Outcome>,
        mut reports: mpsc::Receiver<Report>,
    ) -> Outcome {
        let mut scale = Scale::default();
        let sending = pin!(async {
            while let Some(report) = reports.recv().await {
                self.send(&mut scale, report).await;
            }
        });
        // The call continues while a report is written. If the client does not read, the time limit and the lease of the
        // call still work, and the call releases its locks.
        match select(pin!(performing), sending).await {
            Either::Left((outcome, rest)) => {
                let _ = tokio::time::timeout(LAST_REPORTS, rest).await;
                outcome
            }
            Either::Right(((), performing)) => performing.await,
        }
    }

    async fn send(&self, scale: &mut Scale, report: Report) {
        let (peer, token) = match self {
            Self::Request(peer, token) => (peer.clone(), token.clone()),
            Self::Exchange(exchange) => match exchange.attending() {
                Some(Attending { peer, progress: Some(token), .. }) => (peer, token),
                _ => return,
            },
        };
        if let Some(notification) = scale.next(&token, report) {
            // A report that cannot be sent is dropped; the call continues.
            let _ = peer.notify_progress(notification).await;
        }
    }
}

/// Scales the progress of one request, which must only increase according to the protocol.
#[derive(Debug, Default)]
pub(super) struct Scale {
    last: Option<f64>,
    has_total: bool,
}

impl Scale {
    /// Returns the notification for a report; `None` if the progress would not increase.
    pub(super) fn next(
        &mut self,
        token: &ProgressToken,
        report: Report,
    ) -> Option<ProgressNotificationParam> {
        let (progress, total) = match report.part {
            Some(part) if part.is_finite() => (part, Some(1.0)),
            None if !self.has_total => (self.last.unwrap_or(0.0) + 1.0, None),
            _ => return None,
        };
        if self.last.is_some_and(|last| progress <= last) {
            return None;
        }
        (self.last, self.has_total) = (Some(progress), total.is_some());
        let mut notification = ProgressNotificationParam::new(token.clone(), progress);
        notification.total = total;
        Some(notification.with_message(report.message))
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn progress_only_grows() {
        let token = ProgressToken(NumberOrString::Number(1));
        let mut scale = Scale::default();
        let mut next = |part| {
            let sent = scale.next(&token, Report { message: "on it".into(), part })?;
            Some((sent.progress, sent.total))
        };
        assert_eq!(next(Some(0.25)), Some((0.25, Some(1.0))));
        assert_eq!(next(Some(0.25)), None);
        assert_eq!(next(Some(0.1)), None);
        assert_eq!(next(Some(f64::NAN)), None);
        assert_eq!(next(None), None);
        assert_eq!(next(Some(0.5)), Some((0.5, Some(1.0))));

        let mut scale = Scale::default();
        let mut next =
            || Some(scale.next(&token, Report { message: "on it".into(), part: None })?.progress);
        assert_eq!([next(), next()], [Some(1.0), Some(2.0)]);
    }
}
