//! The Model Context Protocol: serves an application's tools, and calls the tools of other servers.

pub use toolwright_mcp::*;
