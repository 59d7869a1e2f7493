//! The descriptions of tools that each provider expects: the subset of JSON Schema that it accepts, the form of its
//! requests and the names that it allows. This module only converts a tool to text.
//!
//! - A keyword that a provider does not accept is written into the description, or the tool is refused with a
//!   [`Finding`]; nothing is dropped silently.
//! - The same tool gives the same text, in whatever order its schema was built.

pub use toolwright_wire::dialect::{
    DescribedTool, Dialect, DialectError, Finding, Listing, RenderedTool, Request, Rule, Severity,
    UnknownDialect, call_tool_result,
};
