//! The start page, which shows the tickets that wait for people, and the columns.

use maud::{Markup, html};

use super::layout::{self, Part, badge, column_name};
use super::problem::Problem;
use super::sessions::Session;
use super::{Page, text};
use crate::board::Card;
use crate::ticket::State;

/// How many tickets of each column the start page shows.
const FIRST: u32 = 20;

/// How many tickets the page of a single column shows.
const MORE: u32 = 100;

/// How many tickets that wait for people the start page shows.
const WAITING: u32 = 12;

/// The most characters of a title on a card.
const TITLE: usize = 120;

/// Returns the parts of the start page.
pub fn parts(page: &Page, session: &Session) -> Result<Vec<Part>, Problem> {
    let now = page.now();
    let waiting = page.board.waiting_for_people(WAITING, now)?;
    let mut parts = vec![Part::new("waiting", waiting_list(session, &waiting))];
    for state in State::ALL.iter().copied() {
        let cards = page.board.column(state, None, FIRST, now)?;
        let count = page.board.count(state)?;
        parts.push(Part::new(format!("column-{state}"), column(session, state, count, &cards)));
    }
    Ok(parts)
}

/// Shows the start page.
pub fn board(page: &Page, session: &Session) -> Result<Markup, Problem> {
    let parts = parts(page, session)?;
    let (waiting, columns) = parts.split_at(1);
    let content = html! {
        main #main .board {
            h1 .hidden { "Board" }
            @for part in waiting { (part.markup()) }
            nav .jump aria-label="Columns" {
                @for state in State::ALL { a href={ "#column-" (state) } { (column_name(*state)) } }
            }
            div .columns { @for part in columns { (part.markup()) } }
        }
    };
    Ok(layout::session_page(session, "Board", Some(&session.path("events")), content))
}

/// Shows the page of one column: its newest tickets, or those that follow the ticket `before` in the list.
pub fn one(
    page: &Page,
    session: &Session,
    state: State,
    before: Option<i64>,
) -> Result<Markup, Problem> {
    let cards = page.board.column(state, before, MORE, page.now())?;
    let count = page.board.count(state)?;
    let last = cards.last().map(|it| it.id).filter(|_| cards.len() == MORE as usize);
    let content = html! {
        main #main .narrow {
            p { a href=(session.path("")) { "← Board" } }
            h1 { (column_name(state)) " " span .count { (count) } }
            @if cards.is_empty() { p .empty { "No tickets." } }
            ul .cards { @for it in &cards { (card(session, it)) } }
            @if let Some(last) = last {
                p { a .button href={ (session.path("column/")) (state) "?before=" (last) } { "Older tickets" } }
            }
        }
    };
    Ok(layout::session_page(session, column_name(state), None, content))
}

fn waiting_list(session: &Session, cards: &[Card]) -> Markup {
    if cards.is_empty() {
        return html! {};
    }
    html! {
        section .waiting aria-labelledby="waiting-title" {
            h2 #waiting-title { "Waiting for you" }
            ul .cards { @for it in cards { (card(session, it)) } }
        }
    }
}

fn column(session: &Session, state: State, count: u32, cards: &[Card]) -> Markup {
    let left = count.saturating_sub(FIRST);
    html! {
        section .column aria-labelledby={ "title-" (state) } {
            h2 #{ "title-" (state) } { (column_name(state)) " " span .count { (count) } }
            @if cards.is_empty() { p .empty { "No tickets" } }
            @if !cards.is_empty() { ul .cards { @for it in cards { (card(session, it)) } } }
            @if left > 0 {
                p { a href={ (session.path("column/")) (state) } { "All " (count) " tickets" } }
            }
        }
    }
}

fn card(session: &Session, card: &Card) -> Markup {
    let Card { id, kind, sub_state, criteria, met, comments, .. } = card;
    let kind_name = kind.name().to_lowercase();
    html! {
        li .card.works[card.runner.is_some()] {
            a href={ (session.path("ticket/")) (id) } { (text::short(&card.title, TITLE)) }
            p .facts {
                span class={ "kind " (kind_name) } { (kind_name) }
                span { "#" (id) }
                @if *criteria > 0 { span title="criteria met" { "✓ " (met) "/" (criteria) } }
                @if *comments > 0 { span { (comments) @if *comments == 1 { " comment" } @else { " comments" } } }
                @if card.runner.is_some() { span .badge.working { "At work" } }
                @else { (badge(*sub_state)) }
            }
        }
    }
}
