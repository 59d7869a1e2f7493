//! Runs a guard within its time limit, and catches its panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::timeout;

use super::guard::Look;

/// Runs the function of a guard and returns its decision; the error says why there is none.
pub(super) async fn watch<V, D>(limit: Duration, look: &Look<V, D>, view: V) -> Result<D, String> {
    // The function is called inside the future, so that a panic before its first await is caught too.
    let looking = AssertUnwindSafe(async { look(view).await }).catch_unwind();
    match timeout(limit, looking).await {
        Ok(Ok(decision)) => Ok(decision),
        Ok(Err(panic)) => Err(format!("it panicked: {}", words_of(&*panic))),
        Err(_) => Err(format!("it took longer than {limit:?}")),
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a text".to_owned())
}
