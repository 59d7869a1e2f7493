//! Provider messages: reads the tool calls in one, and writes the answers as the message that goes back.
//!
//! It only converts, and opens no connection. The invariants:
//!
//! - a call is returned with its arguments exactly as the provider wrote them, so that large numbers and repeated keys
//!   reach the input reader unchanged;
//! - a call that waits for an answer is returned or refused, never skipped. Content that needs no answer is skipped:
//!   text, thinking, tools that the provider runs itself;
//! - content that a provider does not accept is replaced by a sentence that names it.
//!
//! ```text
//!   message ──▶ Provider::tool_calls ──▶ [ToolCall] ──▶ executor ──▶ [Answer] ──▶ Provider::tool_results
//! ```

pub use toolwright_wire::provider::{
    MediaSupport, MessageError, MessageStream, Provider, StreamError, StreamEvent, ToolCall,
    UnknownProvider,
};
