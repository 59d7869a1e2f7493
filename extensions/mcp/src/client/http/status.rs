//! Notes the HTTP status of an answer, which `rmcp` does not report together with a JSON-RPC error.
//!
//! `reqwest` passes each answer to a classifier of retries. The classifier of this module never asks for a retry; it
//! stores the status for the task that sends the request.

use std::cell::Cell;

use reqwest::ClientBuilder;
use reqwest::retry;

tokio::task_local! {
    static STATUS: Cell<Option<u16>>;
}

/// Makes a client note the status of each answer for [`beside`].
pub(super) fn note_statuses(client: ClientBuilder) -> ClientBuilder {
    client.retry(retry::never().classify_fn(|answer| {
        let status = answer.status().map(|status| status.as_u16());
        // This fails outside of `beside`, where no task waits for the status.
        let _ = STATUS.try_with(|noted| noted.set(status));
        answer.success()
    }))
}

/// Reports whether the last answer to the request of this task was a success. Only code that [`beside`] awaits can ask.
pub(super) fn is_success() -> bool {
    let status = STATUS.try_with(Cell::get).ok().flatten();
    status.is_some_and(|status| (200..300).contains(&status))
}

/// Awaits the sending of a request, and returns its result with the HTTP status of the last answer.
pub(super) async fn beside<T>(send: impl Future<Output = T>) -> (T, Option<u16>) {
    let noting = async {
        let sent = send.await;
        (sent, STATUS.with(Cell::get))
    };
    STATUS.scope(Cell::new(None), noting).await
}
