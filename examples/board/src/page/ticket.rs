//! The page of one ticket.

use maud::{Markup, html};

use super::layout::{self, Part, badge, column_name, hidden, token};
use super::problem::Problem;
use super::sessions::{Session, secret};
use super::{Page, calls, run, text};
use crate::board::{Move, Slice};
use crate::ticket::{Comment, CommentKind, Criterion, State, SubState, Ticket};

/// How many comments the page shows.
const COMMENTS: u32 = 200;

/// How many slices the page shows. A ticket that waits has one more with each heartbeat.
const SLICES: u32 = 50;

/// Rejected input of a form, and the reason.
#[derive(Debug, Default)]
pub struct Draft {
    pub alert: Option<String>,
    pub comment: String,
    /// The id of the comment that the input answers.
    pub answer: Option<i64>,
    pub reason: String,
}

/// Returns the parts of the page of a ticket, in order.
pub async fn parts(page: &Page, session: &Session, id: i64) -> Result<Vec<Part>, Problem> {
    parts_with(page, session, id, "").await
}

async fn parts_with(
    page: &Page,
    session: &Session,
    id: i64,
    reason: &str,
) -> Result<Vec<Part>, Problem> {
    let ticket = page.board.ticket(id)?;
    let pending = calls::pending(page, id).await?;
    let comments = page.board.newest_comments(id, COMMENTS)?;
    let criteria = page.board.criteria(id)?;
    Ok(vec![
        Part::new("head", head(page, &ticket)?),
        Part::new("calls", calls::section(session, id, &pending)),
        Part::new("criteria", criteria_section(session, id, &criteria)),
        Part::new("comments", comments_section(session, id, &comments)),
        Part::new("move", move_section(session, &ticket, reason)),
        Part::new("run", run::section(page, id).await?),
        Part::new("history", history(&page.board.moves(id)?, &page.board.slices(id, SLICES)?)),
    ])
}

/// Shows the page of a ticket.
pub async fn page(
    page: &Page,
    session: &Session,
    id: i64,
    draft: &Draft,
) -> Result<Markup, Problem> {
    let parts = parts_with(page, session, id, &draft.reason).await?;
    let part =
        |id: &str| html! { @for it in parts.iter().filter(|it| it.id == id) { (it.markup()) } };
    let title = format!("#{id} {}", text::short(&page.board.ticket(id)?.title, 80));
    let content = html! {
        main #main .ticket {
            p .back { a href=(session.path("")) { "← Board" } }
            @if let Some(alert) = &draft.alert { p .alert role="alert" { (text::lines(alert)) } }
            (part("head")) (part("calls"))
            div .sides {
                div { (part("comments")) (comment_form(session, id, draft)?) (part("run")) }
                div { (part("criteria")) (part("move")) (part("history")) }
            }
        }
    };
    let events = session.path(&format!("ticket/{id}/events"));
    Ok(layout::session_page(session, &title, Some(&events), content))
}

fn head(page: &Page, ticket: &Ticket) -> Result<Markup, Problem> {
    let card = page.board.card(ticket.id, page.now())?;
    let last = page.board.slices(ticket.id, 1)?.pop().and_then(|it| it.detail);
    let why = last.filter(|_| ticket.sub_state == Some(SubState::Failed) && card.runner.is_none());
    let kind = ticket.kind.name().to_lowercase();
    Ok(html! {
        h1 { (text::line(&ticket.title)) }
        p .facts {
            span class={ "kind " (kind) } { (kind) }
            span { "#" (ticket.id) }
            span .state { (column_name(ticket.state)) }
            @if let Some(runner) = &card.runner { span .badge.working { "At work: " (text::line(runner)) } }
            @else { (badge(ticket.sub_state)) }
            span { (text::line(&card.project)) }
            span { "profile " (text::line(&ticket.profile)) }
            span { "updated " (text::time(card.updated_at)) }
        }
        @if let Some(why) = why { p .note { "Its agent " (text::short(&why, 500)) } }
        @if !ticket.description.trim().is_empty() { p .description { (text::prose(&ticket.description)) } }
    })
}

fn criteria_section(session: &Session, ticket: i64, criteria: &[Criterion]) -> Markup {
    let met = criteria.iter().filter(|it| it.met).count();
    html! {
        section aria-labelledby="criteria-title" {
            h2 #criteria-title { "Criteria " span .count { (met) "/" (criteria.len()) } }
            @if criteria.is_empty() { p .empty { "None: its agent cannot move it to verification." } }
            ul .criteria { @for it in criteria { (criterion(session, ticket, it)) } }
        }
    }
}

fn criterion(session: &Session, ticket: i64, criterion: &Criterion) -> Markup {
    let Criterion { id, met, .. } = criterion;
    let mark = if *met { "met" } else { "not met" };
    html! {
        li {
            span .mark.met[*met] title=(mark) aria-label=(mark) role="img" { @if *met { "✓" } }
            div {
                p { (text::prose(&criterion.text)) }
                p .note {
                    (text::line(&criterion.evidence.to_string()))
                    @if let Some(finding) = &criterion.finding { " · " (text::short(finding, 300)) }
                }
                @if !criterion.evidence.is_checked_by_program() {
                    form method="post" action=(session.path(&format!("ticket/{ticket}/criterion"))) {
                        (token(session)) (hidden("criterion", *id)) (hidden("shown", met.to_string()))
                        button .small #{ "criterion-" (id) } { @if *met { "Not met after all" } @else { "It is met" } }
                    }
                }
            }
        }
    }
}

fn comments_section(session: &Session, ticket: i64, newest: &[Comment]) -> Markup {
    let all: Vec<&Comment> = newest.iter().rev().collect();
    // If the first comment of a thread is too old to be shown, the thread begins with the oldest one that is shown.
    let is_shown = |id: i64| all.iter().any(|it| it.id == id);
    let first = all.iter().filter(|it| it.parent.is_none_or(|parent| !is_shown(parent)));
    html! {
        section aria-labelledby="comments-title" {
            h2 #comments-title { "Comments " span .count { (all.len()) } }
            @if all.len() == COMMENTS as usize { p .note { "The newest " (COMMENTS) "; all: " code { "board show " (ticket) } } }
            @if all.is_empty() { p .empty { "No comments" } }
            @for it in first {
                div .thread.resolved[it.resolved] {
                    (comment(it))
                    @for answer in all.iter().filter(|other| other.parent == Some(it.id)) { (comment(answer)) }
                    div .actions {
                        a .button.small href={ "?answer=" (it.id) "#write" } #{ "answer-" (it.id) } { "Answer" }
                        @if !it.resolved {
                            form method="post" action=(session.path(&format!("ticket/{ticket}/resolve"))) {
                                (token(session)) (hidden("comment", it.id))
                                button .small.quiet #{ "resolve-" (it.id) } { "Resolve" }
                            }
                        } @else { span .note { "Resolved" } }
                    }
                }
            }
        }
    }
}

fn comment(comment: &Comment) -> Markup {
    let Comment { id, author, kind, .. } = comment;
    html! {
        article #{ "comment-" (id) } class={ "comment " (author.name()) " " (kind) } {
            p .by {
                strong { (text::line(&comment.author_name)) }
                @if *kind != CommentKind::Feedback { " " span class={ "badge " (kind) } { (kind) } }
                " " (text::time(comment.created_at)) " " a href={ "#comment-" (id) } aria-label={ "comment " (id) } { "#" (id) }
            }
            div .content { (text::prose(&comment.content)) }
        }
    }
}

/// Shows the form for a comment. A form that is posted twice adds one comment, because both requests have the same key.
fn comment_form(session: &Session, ticket: i64, draft: &Draft) -> Result<Markup, Problem> {
    let key = secret().map_err(Problem::failed)?;
    Ok(html! {
        form #write .write method="post" action=(session.path(&format!("ticket/{ticket}/comment"))) {
            (token(session)) (hidden("key", &key))
            label for="content" {
                @if let Some(answer) = draft.answer { "Answer to comment #" (answer) } @else { "Comment" }
            }
            @if let Some(answer) = draft.answer { (hidden("answer", answer)) }
            textarea #content name="content" rows="3" required autofocus[draft.answer.is_some()] { (draft.comment) }
            p { button .primary { "Comment" } " " span .note { "Its agent reads it at the next heartbeat." } }
        }
    })
}

fn move_section(session: &Session, ticket: &Ticket, reason: &str) -> Markup {
    let others = || State::ALL.iter().copied().filter(|it| *it != ticket.state);
    let likely = match ticket.state {
        State::Backlog => State::Research,
        State::Verification => State::Done,
        _ => State::Backlog,
    };
    html! {
        section aria-labelledby="move-title" {
            h2 #move-title { "Move" }
            form .move method="post" action=(session.path(&format!("ticket/{}/move", ticket.id))) {
                (token(session)) (hidden("from", ticket.state.name()))
                label for="to" { "To" }
                select #to name="to" {
                    @for it in others() { option value=(it) selected[it == likely] { (column_name(it)) } }
                }
                label for="reason" { "Why" }
                input #reason name="reason" required maxlength="2000" value=(reason);
                button { "Move" }
            }
        }
    }
}

fn history(moves: &[Move], slices: &[Slice]) -> Markup {
    html! {
        section .history aria-labelledby="history-title" {
            h2 #history-title { "History" }
            @if moves.is_empty() && slices.is_empty() { p .empty { "Nothing yet" } }
            ul {
                @for it in moves.iter().rev() {
                    li { (column_name(it.from)) " → " strong { (column_name(it.to)) } " by " (text::line(&it.by)) ": " (text::short(&it.reason, 300)) }
                }
            }
            @if !slices.is_empty() {
                details #slices {
                    summary { "Slices of work (" @if slices.len() == SLICES as usize { "the newest " } (slices.len()) ")" }
                    ul {
                        @for it in slices.iter().rev() {
                            li {
                                strong { (it.outcome.map_or("goes on", |it| it.name())) } " "
                                (text::short(it.detail.as_deref().unwrap_or_default(), 300))
                                " " span .note { (text::line(&it.runner)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
