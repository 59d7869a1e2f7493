//! Tools of the operations of an HTTP API, by its `OpenAPI` document.

pub use toolwright_openapi::*;
