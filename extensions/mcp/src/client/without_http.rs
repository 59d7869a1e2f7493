//! Stands in for `http` where the application is built without servers at URLs: no error comes from one.

use rmcp::ServiceError;

pub(super) fn is_session_unknown(_: &ServiceError) -> bool {
    false
}

pub(super) fn refusal(_: &ServiceError) -> Option<&str> {
    None
}
