//! Error pages.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout;
use crate::BoardError;

/// Why a request was refused or failed.
#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub message: String,
}

impl Problem {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is no such page.")
    }

    /// Makes the problem of a request about something that has changed since the page was shown.
    pub fn changed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Makes the problem of invalid input.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Makes the problem of a failure of the page, or of a database that it reads.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<BoardError> for Problem {
    fn from(error: BoardError) -> Self {
        let status = match error {
            BoardError::Missing { .. } => StatusCode::NOT_FOUND,
            BoardError::InvalidTransition { .. }
            | BoardError::MovedMeanwhile { .. }
            | BoardError::UnmetCriteria { .. }
            | BoardError::ClaimLost { .. } => StatusCode::CONFLICT,
            BoardError::CommentLength { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Problem");
        let body = html! {
            main .narrow {
                h1 { (title) }
                p .alert role="alert" { (super::text::lines(&self.message)) }
                p { "Go back and load the page again." }
            }
        };
        (self.status, layout::html_page(title, None, body)).into_response()
    }
}
