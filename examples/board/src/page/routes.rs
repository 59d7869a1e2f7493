//! The routes of the page.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::Markup;

use super::posted::{Asked, COOKIE, SignedIn};
use super::problem::Problem;
use super::ticket::Draft;
use super::{Page, actions, columns, events, files, guard, new, ticket};

/// The most bytes of a form: enough for the longest comment with each character escaped.
const LONGEST_FORM: usize = 300_000;

type Shown = Result<Markup, Problem>;

/// Returns the page as an HTTP service.
pub fn router(page: Arc<Page>) -> Router {
    Router::new()
        .route("/", get(signed_out))
        .route("/sign-in/{link}", get(sign_in))
        .route("/board.css", get(files::style))
        .route("/board.js", get(files::script))
        .route("/board.svg", get(files::icon))
        .route("/s/{folder}/", get(show_board))
        .route("/s/{folder}/events", get(events::of_board))
        .route("/s/{folder}/column/{state}", get(show_column))
        .route("/s/{folder}/new", get(show_new).post(new::add))
        .route("/s/{folder}/sign-out", post(actions::sign_out))
        .route("/s/{folder}/ticket/{id}", get(show_ticket))
        .route("/s/{folder}/ticket/{id}/events", get(events::of_ticket))
        .route("/s/{folder}/ticket/{id}/comment", post(actions::comment))
        .route("/s/{folder}/ticket/{id}/resolve", post(actions::resolve))
        .route("/s/{folder}/ticket/{id}/move", post(actions::move_ticket))
        .route("/s/{folder}/ticket/{id}/criterion", post(actions::criterion))
        .route("/s/{folder}/ticket/{id}/decide", post(actions::decide))
        .fallback(async || Problem::not_found())
        .layer(DefaultBodyLimit::max(LONGEST_FORM))
        .layer(from_fn_with_state(Arc::clone(&page), guard::guard))
        .with_state(page)
}

async fn signed_out() -> Problem {
    let message =
        "You are not signed in. Open the link that `board serve` has written at the terminal.";
    Problem::new(StatusCode::UNAUTHORIZED, message)
}

async fn sign_in(
    State(page): State<Arc<Page>>,
    Path(link): Path<String>,
) -> Result<Response, Problem> {
    let Some(session) = page.sessions.sign_in(&link).map_err(Problem::failed)? else {
        let message = "This link was used before. The terminal of `board serve` has another.";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, message));
    };
    page.invite(Arc::clone(&session.person)).map_err(Problem::failed)?;
    let secure = if page.origin.starts_with("https:") { "; Secure" } else { "" };
    let (value, path) = (&session.cookie, session.path(""));
    let cookie = format!("{COOKIE}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}");
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, path)];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

async fn show_board(State(page): State<Arc<Page>>, SignedIn(session): SignedIn) -> Shown {
    columns::board(&page, &session)
}

async fn show_column(
    State(page): State<Arc<Page>>,
    SignedIn(session): SignedIn,
    Path((_, state)): Path<(String, String)>,
    asked: Asked,
) -> Shown {
    let state = state.parse().map_err(|_| Problem::not_found())?;
    columns::one(&page, &session, state, asked.number("before"))
}

async fn show_ticket(
    State(page): State<Arc<Page>>,
    SignedIn(session): SignedIn,
    Path((_, id)): Path<(String, i64)>,
    asked: Asked,
) -> Shown {
    let draft = Draft { answer: asked.number("answer"), ..Draft::default() };
    ticket::page(&page, &session, id, &draft).await
}

async fn show_new(State(page): State<Arc<Page>>, SignedIn(session): SignedIn) -> Shown {
    new::page(&page, &session, None, |_| "")
}
