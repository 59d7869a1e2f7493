//! How each provider wants a tool described: the subset of JSON Schema it takes, the request's shape
//! and the names it allows. Pure: a tool goes in, text comes out.
//!
//! - What a provider cannot take as a keyword goes into the description, or the tool is refused with
//!   a [`Finding`]; nothing is dropped in silence.
//! - The same tool gives the same text, whatever the order in which its schema was built.

pub use toolwright_wire::dialect::{
    DescribedTool, Dialect, DialectError, Finding, Listing, RenderedTool, Request, Rule, Severity,
    UnknownDialect, call_tool_result,
};
