//! The layout of every page: the head, the navigation, and parts that update themselves.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{DOCTYPE, Markup, html};

use super::sessions::Session;
use crate::ticket::{State, SubState};

/// A part of a page that is updated when it changes.
pub struct Part {
    /// The id of the HTML element.
    pub id: String,
    pub html: Markup,
}

impl Part {
    pub fn new(id: impl Into<String>, html: Markup) -> Self {
        Self { id: id.into(), html }
    }

    /// Returns a number that changes with the part.
    pub fn version(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.html.0.hash(&mut hasher);
        hasher.finish()
    }

    pub fn markup(&self) -> Markup {
        html! { div .part #(self.id) data-version=(self.version()) { (self.html) } }
    }
}

/// Makes a whole page. `events` is the address of the event stream that updates the page's parts.
pub fn html_page(title: &str, events: Option<&str>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" type="image/svg+xml" href="/board.svg";
                link rel="stylesheet" href="/board.css";
                @if events.is_some() { script src="/board.js" defer {} }
            }
            body data-events=[events] {
                a .skip href="#main" { "Skip to content" }
                (body)
            }
        }
    }
}

/// Makes a page of a session, with the navigation.
pub fn session_page(
    session: &Session,
    title: &str,
    events: Option<&str>,
    content: Markup,
) -> Markup {
    let body = html! {
        header .top {
            a .brand href=(session.path("")) { span .logo aria-hidden="true" {} "Board" }
            nav aria-label="Board" { a .button.primary.small href=(session.path("new")) { "New ticket" } }
            span .person { (super::text::line(&session.person.name)) }
            form method="post" action=(session.path("sign-out")) {
                (token(session))
                button .quiet.small { "Sign out" }
            }
        }
        p .offline role="status" { "Not connected: what you see may be old." }
        (content)
    };
    html_page(title, events, body)
}

/// Makes the hidden field with the session's token.
pub fn token(session: &Session) -> Markup {
    html! { input type="hidden" name="token" value=(session.token); }
}

/// Makes a hidden field.
pub fn hidden(name: &str, value: impl maud::Render) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// Returns the name of a column, for people.
pub fn column_name(state: State) -> &'static str {
    match state {
        State::Backlog => "Backlog",
        State::Research => "Research",
        State::InProgress => "In progress",
        State::Verification => "Verification",
        State::Done => "Done",
    }
}

/// Shows the sub-state of a ticket, for people.
pub fn badge(sub_state: Option<SubState>) -> Markup {
    let Some(sub_state) = sub_state else { return html! {} };
    let text = match sub_state {
        SubState::Returned => "Returned",
        SubState::Blocked => "Asks a question",
        SubState::Waiting => "Asks for approval",
        SubState::Failed => "Ended early",
        SubState::Finished => "Finished",
    };
    html! { span class={ "badge " (sub_state) } { (text) } }
}
