//! Decides which messages a run gets, and how its end changes the ticket. Pure: no clock, no database, no model.

use std::fmt::Write as _;

use toolwright::agent::durable::Progress;
use toolwright::agent::{Message, RunEnd};
use toolwright::runtime::printable;

use crate::ticket::{Author, Comment, CommentKind, Criterion, Outcome, State, Ticket};

/// Returns the system prompt.
pub fn instructions(persona: &str, unread: usize) -> String {
    let mut text = format!(
        "{persona} You work on one ticket of a board, in a worktree of its own, with tools; paths are relative to it. Read the ticket \
         first. Look before you change anything, and change as little as the ticket needs. A ticket in RESEARCH is moved to \
         IN_PROGRESS before you change files. When all acceptance criteria are met, commit, move the ticket to VERIFICATION, and \
         post a `completion` that says what was done. When you cannot go on without a person, post one `question` and end with a \
         short text: you are called again with the answer. Say in one sentence what you do next before you call a tool."
    );
    if unread > 0 {
        let _ = write!(
            text,
            " People have written {unread} comments that you have not read: call `comment_list` before you go on."
        );
    }
    text
}

/// Returns the first message of a ticket's run.
pub fn task(ticket: &Ticket) -> String {
    let Ticket { id, kind, title, .. } = ticket;
    // In one line, so that no part of the title can pass for a comment.
    let title = printable::line(title);
    format!("Work on ticket {id} ({kind}): {title}")
}

/// The beginning of each comment in a message to a run. [`last_sent`] searches the history for it.
const COMMENT: &str = "Comment ";

/// The indentation of the lines of a comment.
const INDENT: &str = "    ";

/// Returns the message that resumes an ended run: new comments of people, or if there are none, the reason why the
/// ticket was returned.
pub fn message(unread: &[Comment], last_move: Option<&str>) -> String {
    if unread.is_empty() {
        return match last_move {
            Some(reason) => format!("The ticket is yours again: {}", printable::line(reason)),
            None => "Go on with the ticket.".to_owned(),
        };
    }
    let said = unread.iter().map(|it| {
        let Comment { id, author_name, content, .. } = it;
        let author = printable::line(author_name);
        format!("{COMMENT}{id} of {author}:\n{}", indented(content))
    });
    said.collect::<Vec<_>>().join("\n\n")
}

/// Indents every line of a text, so that no line looks like the beginning of another comment.
fn indented(content: &str) -> String {
    content.lines().map(|line| format!("{INDENT}{line}")).collect::<Vec<_>>().join("\n")
}

/// Returns the id of the last comment in a run's history. The history has every comment that was sent, even if a
/// process was killed before it recorded on the board that the comment was read.
pub fn last_sent(history: &[Message]) -> Option<i64> {
    let texts = history.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text),
        _ => None,
    });
    let ids = texts.flat_map(|it| it.split("\n\n")).filter_map(|part| {
        let (id, rest) = part.strip_prefix(COMMENT)?.split_once(" of ")?;
        rest.contains(":\n").then(|| id.parse().ok()).flatten()
    });
    ids.max()
}

/// Decides how the end of a slice changes the ticket: by the run's progress, the ticket's column, its comments with the
/// newest first, and its criteria.
pub fn outcome(
    progress: &Progress,
    ticket: &Ticket,
    comments: &[Comment],
    criteria: &[Criterion],
) -> (Outcome, String) {
    let end = match progress {
        Progress::Waiting(waiting) => return (Outcome::Waiting, waiting.to_string()),
        Progress::Ended(end) => end,
        _ => return (Outcome::Error, "the run was written by a newer release".to_owned()),
    };
    if !matches!(end, RunEnd::Text { .. } | RunEnd::Terminal { .. }) {
        return (Outcome::Error, end.to_string());
    }
    // Only comments after the last comment of a person count, since earlier ones are about something else.
    let since = comments.iter().take_while(|it| it.author == Author::Agent);
    let since: Vec<&Comment> = since.collect();
    let posted = |kind| since.iter().find(|it| it.kind == kind && !it.resolved);
    if let Some(question) = posted(CommentKind::Question) {
        return (Outcome::Blocked, format!("asks in comment {}", question.id));
    }
    if ticket.state == State::Verification {
        return (Outcome::Completed, "is in VERIFICATION".to_owned());
    }
    // An agent whose profile cannot move tickets ends with a comment of the kind completion.
    if ticket.state == State::Research
        && let Some(completion) = posted(CommentKind::Completion)
    {
        return (Outcome::Completed, format!("says what was done in comment {}", completion.id));
    }
    let unmet = criteria.iter().filter(|it| !it.met).map(|it| format!("“{}”", it.text));
    let unmet: Vec<String> = unmet.collect();
    let unmet = match unmet.is_empty() {
        true => String::new(),
        false => format!("; not met: {}", unmet.join(", ")),
    };
    (Outcome::Error, format!("ended while the ticket is in {}{unmet}", ticket.state))
}
