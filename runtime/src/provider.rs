//! Provider messages: the tool calls in one, and the answers as the message that goes back.
//!
//! Pure conversion; no connection is opened here. The invariants:
//!
//! - a call is passed on with its arguments as the provider wrote them, byte for byte, so that large
//!   numbers and repeated keys reach the input reader unchanged;
//! - a call that is waiting for an answer is returned or refused, never passed over. What needs no answer is
//!   passed over: text, thinking, tools that the provider runs itself;
//! - content that a provider cannot take is replaced by a sentence that names it.
//!
//! ```text
//!   message ──▶ Provider::tool_calls ──▶ [ToolCall] ──▶ executor ──▶ [Answer] ──▶ Provider::tool_results
//! ```

pub use toolwright_wire::provider::{
    MediaSupport, MessageError, MessageStream, Provider, StreamError, StreamEvent, ToolCall,
    UnknownProvider,
};
