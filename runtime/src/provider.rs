//! Messages of model providers: reads the tool calls in a message, and writes their answers as the message to send
//! back.
//!
//! This module only converts, and opens no connection. The invariants:
//!
//! - A call is returned with its arguments exactly as the provider wrote them, so that large numbers and repeated keys
//!   reach the input reader unchanged.
//! - A call that waits for an answer is returned or refused, never skipped. Content that needs no answer is skipped:
//!   text, thinking, tools that the provider runs itself.
//! - Content that a provider does not accept is replaced by a sentence that names it.
//!
//! ```text
//!   message ──▶ Provider::tool_calls ──▶ [ToolCall] ──▶ executor ──▶ [Answer] ──▶ Provider::tool_results
//! ```

pub use toolwright_wire::provider::{
    MediaSupport, MessageError, MessageStream, Provider, StreamError, StreamEvent, ToolCall,
    UnknownProvider,
};
