//! A request to the peer, which is cancelled when its sender stops waiting for the answer.

use rmcp::ServiceError;
use rmcp::model::ProgressToken;
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceRole};

/// A request that was sent. If this value is dropped before the answer has arrived, the request is cancelled.
pub(crate) struct SentRequest<R: ServiceRole>(Option<RequestHandle<R>>);

impl<R: ServiceRole> SentRequest<R> {
    pub(crate) async fn send(peer: &Peer<R>, request: R::Req) -> Result<Self, ServiceError> {
        let options = PeerRequestOptions::no_options();
        Ok(Self(Some(peer.send_request_with_option(request, options).await?)))
    }

    /// Returns the token that the peer's progress reports on this request have.
    pub(crate) fn progress_token(&self) -> Option<ProgressToken> {
        self.0.as_ref().map(|handle| handle.progress_token.clone())
    }

    pub(crate) async fn answer(mut self) -> Result<R::PeerResp, ServiceError> {
        let Some(handle) = &mut self.0 else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl<R: ServiceRole> Drop for SentRequest<R> {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let reason = "the caller stopped waiting for the answer".to_owned();
        runtime.spawn(async move {
            // If the peer has disconnected, it has nothing to cancel.
            let _ = handle.cancel(Some(reason)).await;
        });
    }
}
