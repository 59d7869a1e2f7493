//! The form for a new ticket. If the input is rejected, the form is shown again with it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::actions::see;
use super::layout::{column_name, session_page, token};
use super::posted::Posted;
use super::problem::Problem;
use super::sessions::Session;
use super::{Page, text};
use crate::ticket::{Evidence, NewTicket, State as Column, TicketKind};

/// The profiles for agents.
const PROFILES: [&str; 3] = ["developer", "researcher", "reviewer"];

/// The columns for a new ticket.
const COLUMNS: [Column; 2] = [Column::Backlog, Column::Research];

/// Adds the ticket.
pub async fn add(State(page): State<Arc<Page>>, posted: Posted) -> Result<Response, Problem> {
    let session = &posted.session;
    match read(&page, &posted) {
        Ok(new) => Ok(see(session, page.board.add_ticket(&new, page.now())?, "main")),
        Err(why) => {
            let given = |name: &str| posted.text(name).unwrap_or_default();
            let shown = self::page(&page, session, Some(&why.message), given)?;
            Ok((why.status, shown).into_response())
        }
    }
}

fn read(page: &Page, posted: &Posted) -> Result<NewTicket, Problem> {
    let criteria = posted.typed("criteria")?;
    let criteria = criteria.lines().filter(|it| !it.trim().is_empty());
    let title = posted.typed("title")?;
    if title.is_empty() {
        return Err(Problem::unusable("a ticket has a title"));
    }
    let profile = posted.typed("profile")?;
    if !PROFILES.contains(&profile.as_str()) {
        let expected = PROFILES.join(", ");
        return Err(Problem::unusable(format!(
            "found the profile `{profile}`, expected one of {expected}"
        )));
    }
    Ok(NewTicket {
        project: page.board.project(posted.read("project")?)?.id,
        kind: posted.read("kind")?,
        state: posted.read("state")?,
        title,
        description: posted.typed("description")?,
        profile,
        criteria: criteria
            .map(Evidence::read_criterion)
            .collect::<Result<_, _>>()
            .map_err(Problem::unusable)?,
    })
}

/// Shows the form, with the content of each field.
pub fn page<'a>(
    page: &Page,
    session: &Session,
    alert: Option<&str>,
    given: impl Fn(&str) -> &'a str,
) -> Result<Markup, Problem> {
    let projects = page.board.projects()?;
    let chosen = |name: &str, value: &str| given(name) == value;
    let content = html! {
        main #main .narrow {
            p { a href=(session.path("")) { "← Board" } }
            h1 { "New ticket" }
            @if let Some(alert) = alert { p .alert role="alert" { (text::lines(alert)) } }
            form .new method="post" action=(session.path("new")) {
                (token(session))
                label for="title" { "Title" }
                input #title name="title" required maxlength="500" autofocus value=(given("title"));
                label for="description" { "Description" }
                textarea #description name="description" rows="5" { (given("description")) }
                label for="criteria" { "Criteria, one a line" }
                textarea #criteria name="criteria" rows="4" placeholder="tests: The test suite passes" aria-describedby="criteria-help" { (given("criteria")) }
                p #criteria-help .note {
                    code { "tests: …" } " by the suite, " code { "lint: …" } " by the linter, " code { "file PATH: …" }
                    " by the file, " code { "person: …" } " by a person. Without any, the agent cannot finish."
                }
                div .row {
                    div {
                        label for="kind" { "Type" }
                        select #kind name="kind" {
                            @for it in TicketKind::ALL { option selected[chosen("kind", it.name())] { (it) } }
                        }
                    }
                    div {
                        label for="project" { "Project" }
                        select #project name="project" {
                            @for it in &projects {
                                option value=(it.id) selected[chosen("project", &it.id.to_string())] { (text::line(&it.name)) }
                            }
                        }
                    }
                    div {
                        label for="profile" { "Profile" }
                        select #profile name="profile" {
                            @for it in PROFILES { option selected[chosen("profile", it)] { (it) } }
                        }
                    }
                    div {
                        label for="state" { "Column" }
                        select #state name="state" {
                            @for it in COLUMNS {
                                option value=(it) selected[chosen("state", it.name())] { (column_name(it)) }
                            }
                        }
                    }
                }
                p .note { "In Research, an agent begins with it at the next heartbeat." }
                p { button .primary { "Add" } }
            }
        }
    };
    Ok(session_page(session, "New ticket", None, content))
}
