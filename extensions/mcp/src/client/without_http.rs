//! Replaces `http` in an application built without servers at URLs: there are no HTTP errors to recognize.

use rmcp::ServiceError;

pub(super) fn is_session_unknown(_: &ServiceError) -> bool {
    false
}

pub(super) fn refusal(_: &ServiceError) -> Option<&str> {
    None
}
