//! What Toolwright sends to a vendor, held against what the vendor says.
//!
//! Two judges that know nothing of the runtime's dialects, and nothing of each other:
//!
//! - [`document`]: the vendor's own published document, fetched by `tests/oracles/fetch` and never committed;
//! - [`unwritten`]: what the vendor enforces and the document leaves out, from the vendor's guides and from
//!   the error messages that people report.
//!
//! [`verdict`] puts a tool through a dialect and asks both. [`real`] brings the definitions
//! of real functions, which are written in all sorts of type names. [`recorded`] judges what went between a client and a
//! provider.

pub mod document;
pub mod fetched;
pub mod real;
pub mod recorded;
pub mod unwritten;
pub mod verdict;
