//! Passes the progress reports of a server on to the calls that wait for them. A server that reports faster than a call
//! reads neither fills the memory nor delays the call: further reports are dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc;

use super::untrusted::escaped;

/// How many reports of one call may wait to be passed on.
const WAITING: usize = 16;

/// The maximum length of a progress message that is passed on, in characters.
const LONGEST: usize = 500;

/// A progress report, escaped and cut, because the server is not trusted.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) message: String,
    pub(super) part: Option<f64>,
}

impl From<ProgressNotificationParam> for Report {
    fn from(progress: ProgressNotificationParam) -> Self {
        let total = progress.total.filter(|total| *total > 0.0);
        let part = total.map(|total| (progress.progress / total).clamp(0.0, 1.0));
        // The message is cut first, because it may be long, and escaped text is not shorter than the text.
        let message: String =
            progress.message.iter().flat_map(|it| it.chars()).take(LONGEST).collect();
        let message = escaped(&message).chars().take(LONGEST).collect();
        Self { message, part: part.filter(|part| !part.is_nan()) }
    }
}

/// The calls of one connection that wait for progress reports; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Report>>>>);

impl Reports {
    /// Passes a report on to its call, if the call has room for it.
    pub(super) fn receive(&self, progress: ProgressNotificationParam) {
        let call = self.lock().get(&progress.progress_token).cloned();
        if let Some(room) = call.as_ref().and_then(|call| call.try_reserve().ok()) {
            room.send(progress.into());
        }
    }

    /// Returns the reports of the call with this token from now on.
    pub(super) fn of(&self, token: Option<ProgressToken>) -> ReportsOfCall {
        let (sender, received) = mpsc::channel(WAITING);
        if let Some(token) = token.clone() {
            self.lock().insert(token, sender);
        }
        ReportsOfCall { received, token, of: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<Report>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reports of one call. When this value is dropped, later reports of the call are ignored.
pub(super) struct ReportsOfCall {
    pub(super) received: mpsc::Receiver<Report>,
    token: Option<ProgressToken>,
    of: Reports,
}

impl Drop for ReportsOfCall {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            self.of.lock().remove(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn reports_that_a_call_does_not_read_are_cut_and_then_dropped() {
        let (reports, token) = (Reports::default(), ProgressToken(NumberOrString::Number(1)));
        let mut of_call = reports.of(Some(token.clone()));
        for step in 0..100_i32 {
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
            reports.receive(progress.with_message("x\u{202e}".repeat(1000)));
        }
        let mut received = Vec::new();
        while let Ok(report) = of_call.received.try_recv() {
            received.push(report.message.chars().count());
        }
        assert_eq!(received, [LONGEST; WAITING]);
        drop(of_call);
        assert!(reports.lock().is_empty());
    }
}
