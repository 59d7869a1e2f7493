//! The actions of people on the page. A move of a ticket, or a decision about a criterion or a call, is refused if what
//! the page has shown of it has changed since.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use toolwright::approval::{ApprovalError, ApprovalService, ShownCall};
use toolwright::runtime::CallId;
use toolwright::runtime::printable;

use super::posted::Posted;
use super::problem::Problem;
use super::sessions::Session;
use super::ticket::Draft;
use super::{Page, calls, ticket};
use crate::ticket::{Author, CommentKind, NewComment, State as Column};

type Answer = Result<Response, Problem>;

/// Redirects to a section of a ticket's page, after an action.
pub fn see(session: &Session, ticket: i64, part: &str) -> Response {
    Redirect::to(&session.path(&format!("ticket/{ticket}#{part}"))).into_response()
}

/// Shows the ticket's page again with the rejected input, and the reason.
async fn refuse(page: &Page, session: &Session, id: i64, why: Problem, draft: Draft) -> Answer {
    if why.status == StatusCode::INTERNAL_SERVER_ERROR || why.status == StatusCode::NOT_FOUND {
        return Err(why);
    }
    let draft = Draft { alert: Some(why.message), ..draft };
    Ok((why.status, ticket::page(page, session, id, &draft).await?).into_response())
}

pub async fn comment(
    State(page): State<Arc<Page>>,
    Path((_, id)): Path<(String, i64)>,
    posted: Posted,
) -> Answer {
    let (session, content) = (&posted.session, posted.typed("content")?);
    let answer = posted.read::<i64>("answer").ok();
    let key = format!("page {} {}", session.folder, posted.text("key")?);
    page.board.ticket(id)?;
    let name = session.person.name.as_str();
    let new = NewComment {
        ticket: id,
        parent: answer,
        author: Author::Human,
        author_id: name,
        author_name: name,
        kind: CommentKind::Feedback,
        content: &content,
        key: Some(&key),
    };
    match page.board.add_comment(&new, page.now()) {
        Ok(written) => Ok(see(session, id, &format!("comment-{written}"))),
        Err(error) => {
            let draft = Draft { comment: content, answer, ..Draft::default() };
            refuse(&page, session, id, error.into(), draft).await
        }
    }
}

pub async fn resolve(
    State(page): State<Arc<Page>>,
    Path((_, id)): Path<(String, i64)>,
    posted: Posted,
) -> Answer {
    page.board.resolve_comment(id, posted.read("comment")?)?;
    Ok(see(&posted.session, id, "comments"))
}

pub async fn move_ticket(
    State(page): State<Arc<Page>>,
    Path((_, id)): Path<(String, i64)>,
    posted: Posted,
) -> Answer {
    let (session, reason) = (&posted.session, posted.typed("reason")?);
    let columns: [Column; 2] = [posted.read("from")?, posted.read("to")?];
    if reason.is_empty() {
        let why = Problem::unusable("A move has a reason.");
        return refuse(&page, session, id, why, Draft::default()).await;
    }
    match page.board.move_as_shown(id, columns, &reason, &session.person.name, page.now()) {
        Ok(_) => Ok(see(session, id, "head")),
        Err(error) => {
            let draft = Draft { reason, ..Draft::default() };
            refuse(&page, session, id, error.into(), draft).await
        }
    }
}

pub async fn criterion(
    State(page): State<Arc<Page>>,
    Path((_, id)): Path<(String, i64)>,
    posted: Posted,
) -> Answer {
    let (session, number, shown) =
        (&posted.session, posted.read::<i64>("criterion")?, posted.read::<bool>("shown")?);
    let found = page.board.criteria(id)?.into_iter().find(|it| it.id == number);
    let why = match &found {
        None => Some("the criterion was removed meanwhile"),
        Some(it) if it.evidence.is_checked_by_program() => {
            Some("a program finds out whether this criterion is met")
        }
        Some(it) if it.met != shown => {
            Some("another person has decided about the criterion meanwhile")
        }
        Some(_) => None,
    };
    let Some(mut criterion) = found.filter(|_| why.is_none()) else {
        let why = Problem::changed(why.unwrap_or_default());
        return refuse(&page, session, id, why, Draft::default()).await;
    };
    (criterion.met, criterion.tree) = (!shown, None);
    criterion.finding = Some(format!("{} says so", session.person.name));
    page.board.record_finding(id, &criterion, page.now())?;
    Ok(see(session, id, "criteria"))
}

/// Decides about a call. The form has to have the digest of all that the page has shown of the call.
pub async fn decide(
    State(page): State<Arc<Page>>,
    Path((_, id)): Path<(String, i64)>,
    posted: Posted,
) -> Answer {
    let session = &posted.session;
    match decided(&page, id, &posted).await {
        Ok(()) => Ok(see(session, id, "calls")),
        Err(why) => refuse(&page, session, id, why, Draft::default()).await,
    }
}

async fn decided(page: &Page, ticket: i64, posted: &Posted) -> Result<(), Problem> {
    let person = &posted.session.person;
    let key = person.key.as_ref().ok_or_else(|| {
        Problem::new(StatusCode::FORBIDDEN, "the page has no key to sign your decision with")
    })?;
    let call: CallId = posted.read("call")?;
    let record = page.journal.get(call).await.map_err(Problem::failed)?;
    let gone = || Problem::changed(format!("there is no call {call} of this ticket"));
    let record = record.filter(|it| it.place.run == calls::run_of(ticket)).ok_or_else(gone)?;
    // If the call no longer waits, the approval service reports who has decided.
    if let Some(seen) = calls::seen(&record)
        && seen != posted.text("seen")?
    {
        return Err(Problem::changed(
            "the call is not what was shown: look at it as it is now, and decide again",
        ));
    }
    let service = ApprovalService::new(Arc::clone(&page.journal));
    let shown = ShownCall::from(&record);
    let done = match posted.text("decision")? {
        "approve" => service.approve(shown, key).await,
        "reject" => {
            let reason = Some(posted.typed("reason")?).filter(|it| !it.is_empty());
            service.reject(shown, reason, key).await
        }
        other => {
            let other = printable::line(other);
            return Err(Problem::unusable(format!(
                "found the decision `{other}`, expected `approve` or `reject`"
            )));
        }
    };
    match done {
        Ok(_) => Ok(page.board.wake(ticket)?),
        Err(ApprovalError::Store(error)) => Err(Problem::failed(error)),
        Err(error) => Err(Problem::changed(error.to_string())),
    }
}

pub async fn sign_out(State(page): State<Arc<Page>>, posted: Posted) -> Answer {
    page.sessions.end(&posted.session);
    Ok(Redirect::to("/").into_response())
}
