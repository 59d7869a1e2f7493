//! The addresses of the page.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};

use super::layout::{self, token};
use super::posted::{Asked, COOKIE, SignedIn};
use super::problem::Problem;
use super::ticket::Draft;
use super::{Page, actions, columns, events, files, guard, text, ticket};
use crate::ticket::{State as Column, TicketKind};

/// How many bytes a form may have: the longest comment, each character of it escaped.
const LONGEST_FORM: usize = 300_000;

type Shown = Result<Markup, Problem>;

/// Returns the page as a service of HTTP.
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
        .route("/s/{folder}/new", get(show_new).post(actions::add_ticket))
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
    let projects = page.board.projects()?;
    let content = html! {
        main #main .narrow {
            p { a href=(session.path("")) { "← Board" } }
            h1 { "New ticket" }
            form .new method="post" action=(session.path("new")) {
                (token(&session))
                label for="title" { "Title" }
                input #title name="title" required maxlength="500" autofocus;
                label for="description" { "Description" }
                textarea #description name="description" rows="5" {}
                label for="criteria" { "Criteria, one a line" }
                textarea #criteria name="criteria" rows="4" placeholder="tests: The test suite passes" aria-describedby="criteria-help" {}
                p #criteria-help .note {
                    code { "tests: …" } " by the suite, " code { "lint: …" } " by the linter, " code { "file PATH: …" }
                    " by the file, " code { "person: …" } " by a person. Without any, the agent cannot finish."
                }
                div .row {
                    div { label for="kind" { "Type" } select #kind name="kind" { @for it in TicketKind::ALL { option { (it) } } } }
                    div { label for="project" { "Project" } select #project name="project" { @for it in &projects { option value=(it.id) { (text::line(&it.name)) } } } }
                    div { label for="profile" { "Profile" } select #profile name="profile" { option { "developer" } option { "researcher" } option { "reviewer" } } }
                    div { label for="state" { "Column" } select #state name="state" {
                        @for it in [Column::Backlog, Column::Research] { option value=(it) { (layout::column_name(it)) } }
                    } }
                }
                p .note { "In Research, an agent begins with it at the next heartbeat." }
                p { button .primary { "Add" } }
            }
        }
    };
    Ok(layout::session_page(&session, "New ticket", None, content))
}
