//! Replaces the module `http` in an application that is built without HTTP, in which no HTTP errors have to be
//! recognized.

use rmcp::ServiceError;

pub(super) fn is_session_unknown(_: &ServiceError) -> bool {
    false
}

pub(super) fn refusal(_: &ServiceError) -> Option<&str> {
    None
}

pub(super) fn authorization_failure(_: &ServiceError) -> Option<String> {
    None
}
