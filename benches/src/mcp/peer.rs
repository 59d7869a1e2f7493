//! This program as a server over standard input and output, for the clients that are measured.

use anyhow::Result;

use super::servers::Theirs;

/// The argument that starts this program as a server.
pub const PEER: &str = "serve-mcp-peer";

/// Serves until the client has gone, if this program was started for that.
pub fn serve_if_asked() -> Result<bool> {
    if std::env::args().nth(1).is_none_or(|argument| argument != PEER) {
        return Ok(false);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        ::rmcp::serve_server(Theirs::new(), streams).await?.waiting().await?;
        anyhow::Ok(())
    })?;
    // Do not wait for the thread that reads standard input.
    runtime.shutdown_background();
    Ok(true)
}
