//! The calls of a ticket that wait for a person. A decision contains a digest of all that the page has shown, so that
//! it cannot count for another call.

use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use toolwright::approval::{ApprovalError, ApprovalRequest, ApprovalService};
use toolwright::journal::{CallRecord, Filter, Page as Listing, State};

use super::layout::{hidden, token};
use super::problem::Problem;
use super::sessions::Session;
use super::{Page, text};

/// The most calls that the page shows.
const CALLS: usize = 20;

/// Returns the id of a ticket's run.
pub fn run_of(ticket: i64) -> String {
    format!("ticket-{ticket}")
}

/// Lists the calls of a ticket that wait for a decision.
pub async fn pending(page: &Page, ticket: i64) -> Result<Vec<CallRecord>, Problem> {
    let mut filter = Filter::default();
    (filter.states, filter.run) = (vec![State::Pending], Some(run_of(ticket)));
    let listed = page.journal.list(&filter, Listing::first(CALLS)).await;
    Ok(listed.map_err(Problem::failed)?.calls)
}

/// Returns a digest of all that the page shows of a call; `None` if the call waits for no decision.
pub fn seen(call: &CallRecord) -> Option<String> {
    let request = ApprovalRequest::of(call).filter(|_| call.state == State::Pending)?;
    Some(hex::encode(Sha256::digest(request.to_string())))
}

/// Shows the calls, each with buttons for the possible decisions.
pub fn section(session: &Session, ticket: i64, calls: &[CallRecord]) -> Markup {
    html! {
        @if !calls.is_empty() {
            section .approvals aria-labelledby="approvals-title" {
                h2 #approvals-title { "Asks for approval" }
                @for it in calls { (call(session, ticket, it)) }
            }
        }
    }
}

fn call(session: &Session, ticket: i64, call: &CallRecord) -> Markup {
    let (Some(request), Some(seen)) = (ApprovalRequest::of(call), seen(call)) else {
        return html! {};
    };
    let (is_altered, is_unseen) = match ApprovalService::check_shown(call) {
        Ok(()) => (false, false),
        Err(ApprovalError::Unseen { .. }) => (false, true),
        Err(_) => (true, false),
    };
    let id = call.id.to_string();
    html! {
        article .call {
            h3 { code { (text::line(&request.tool)) } " " span class={ "danger " (request.danger.as_str()) } { (request.danger.as_str()) } }
            p { (text::prose(&request.reason)) }
            pre tabindex="0" aria-label="Arguments" { (text::json(&request.arguments)) }
            @for change in &request.repairs { p .note { "Repaired: " (text::line(&change.to_string())) } }
            @if let Some(preview) = &request.preview {
                pre tabindex="0" .preview aria-label="Preview" { (text::lines(preview)) }
            }
            p .note {
                "Until " (text::time(request.deadline)) " · call " code { (id) } " · digest "
                code { (request.digest.get(..12).unwrap_or(&request.digest)) }
            }
            @if is_altered {
                p .alert role="alert" { "The journal shows other arguments than would run. Reject the call, and find out who writes to the journal." }
            } @else if is_unseen {
                p .note { "The arguments are encrypted, so that the page cannot compare them with what would run: approve the call by `toolwright approvals approve --unseen`." }
            }
            @if session.person.key.is_some() {
                form .decide method="post" action=(session.path(&format!("ticket/{ticket}/decide"))) {
                    (token(session)) (hidden("call", &id)) (hidden("seen", &seen))
                    @if !is_altered && !is_unseen {
                        button .primary name="decision" value="approve" #{ "approve-" (id) } { "Approve" }
                    }
                    label { span .hidden { "Why it is rejected" } input name="reason" placeholder="Why not? The agent reads it" maxlength="2000" #{ "reason-" (id) }; }
                    button .danger name="decision" value="reject" #{ "reject-" (id) } { "Reject" }
                }
            } @else {
                p .note { "The page has no key of yours to sign a decision with: make one by `toolwright keys new`, and start `board serve` again." }
            }
        }
    }
}
