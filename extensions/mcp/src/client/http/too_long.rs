//! Handles an answer that is longer than the limit. `rmcp` stops reading such an answer. The request then fails for
//! this reason, as it does over pipes.

use futures::StreamExt as _;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::nested;
use super::session::Failure;
use crate::client::lines::too_long;

/// Returns the answer to a request, or the error that replaces an answer which is too long. In both cases, the server
/// has worked on the request.
pub(super) fn read(
    answer: Result<StreamableHttpPostResponse, Failure>,
    request: &RequestId,
) -> Result<StreamableHttpPostResponse, Failure> {
    match answer {
        Err(StreamableHttpError::ResponseBodyTooLarge { .. }) => {
            Ok(StreamableHttpPostResponse::Json(too_long(request.clone()), None))
        }
        Ok(StreamableHttpPostResponse::Sse(events, session)) => {
            let request = request.clone();
            let events = events.map(move |event| match event {
                Err(error) if is_too_long(&error) => {
                    let data = serde_json::to_string(&too_long(request.clone()));
                    Ok(Sse { data: data.ok(), ..Sse::default() })
                }
                event => event,
            });
            Ok(StreamableHttpPostResponse::Sse(nested::events(events.boxed()), session))
        }
        answer => answer,
    }
}

/// Compares the text of the error, because `rmcp` has no public type for it.
fn is_too_long(error: &SseError) -> bool {
    matches!(error, SseError::Body(why) if why.to_string().starts_with("SSE event exceeded the maximum size"))
}
