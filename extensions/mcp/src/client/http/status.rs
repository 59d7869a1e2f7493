//! The status of an answer, which the library does not give on beside a JSON-RPC error.
//!
//! The client shows each answer to a rule that says whether a request is made again. Ours never has one made again, and notes the status for
//! the task that sends.

use std::cell::Cell;

use reqwest::ClientBuilder;
use reqwest::retry;

tokio::task_local! {
    static STATUS: Cell<Option<u16>>;
}

/// Lets a client note the status of each answer for [`beside`].
pub(super) fn note_statuses(client: ClientBuilder) -> ClientBuilder {
    client.retry(retry::never().classify_fn(|answer| {
        let status = answer.status().map(|status| status.as_u16());
        // Outside of `beside`, no caller wants it.
        let _ = STATUS.try_with(|noted| noted.set(status));
        answer.success()
    }))
}

/// Sends, and returns the status of the last answer beside what came of it.
pub(super) async fn beside<T>(send: impl Future<Output = T>) -> (T, Option<u16>) {
    let noting = async {
        let sent = send.await;
        (sent, STATUS.with(Cell::get))
    };
    STATUS.scope(Cell::new(None), noting).await
}
