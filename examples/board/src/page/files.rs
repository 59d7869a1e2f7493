//! The static files of every page, compiled in.

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub const STYLE: &str = include_str!("board.css");
pub const SCRIPT: &str = include_str!("board.js");
const ICON: &str = include_str!("board.svg");

pub async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

pub async fn script() -> Response {
    file("text/javascript; charset=utf-8", SCRIPT)
}

pub async fn icon() -> Response {
    file("image/svg+xml", ICON)
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
