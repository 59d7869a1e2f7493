//! Runs disk I/O on tokio's pool of blocking threads.

use toolwright::ToolError;

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new("internal", "a stage of the toolbox failed").caused_by(error)
    })
}
