//! Makes tools of the operations of an HTTP API, from its `OpenAPI` document.

pub use toolwright_openapi::*;
