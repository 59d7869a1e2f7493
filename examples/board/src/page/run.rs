//! Shows the run of a ticket: its agent's messages and calls, and their cost.

use maud::{Markup, html};
use toolwright::agent::Message;
use toolwright::agent::durable::{Head, Phase, RecordedTurn, RunError, Runs};

use super::problem::Problem;
use super::{Page, calls, text};

/// How many turns the page shows, the newest first.
const TURNS: u64 = 15;

/// The most characters that the page shows of a turn's text.
const LONGEST: usize = 600;

/// The most characters that the page shows of a call's arguments.
const ARGUMENTS: usize = 160;

/// Shows the state of a ticket's run, and its newest turns.
pub async fn section(page: &Page, ticket: i64) -> Result<Markup, Problem> {
    let runs = Runs::of(std::sync::Arc::clone(&page.journal));
    let head = match runs.head(&calls::run_of(ticket)).await {
        Ok(head) => head,
        Err(RunError::NoSuchRun { .. }) => {
            return Ok(titled(html! { p .empty { "No agent has worked on this ticket." } }));
        }
        Err(error) => return Err(Problem::failed(error)),
    };
    let mut turns = Vec::new();
    if !Runs::is_encrypted(&head) {
        // Messages after the last answer belong to the next turn.
        for number in (1..=head.turn + 1).rev().take(usize::try_from(TURNS).unwrap_or_default()) {
            let turn = runs.turn(&head.run, number).await.map_err(Problem::failed)?;
            turns.push((number, turn));
        }
    }
    Ok(titled(html! {
        (facts(&head))
        @if Runs::is_encrypted(&head) { p .note { "The texts of this run are encrypted; its application can read them." } }
        ol .turns reversed {
            @for (number, it) in &turns {
                @if it.answer.is_some() || !it.said.is_empty() { (turn(*number, it)) }
            }
        }
        @if head.turn > TURNS {
            p .note { "Earlier turns: " code { "toolwright runs show " (head.run) } }
        }
    }))
}

fn titled(content: Markup) -> Markup {
    html! { section aria-labelledby="run-title" { h2 #run-title { "Run" } (content) } }
}

fn facts(head: &Head) -> Markup {
    let standing = match (&head.ended, head.phase) {
        (Some(how), _) if how == "text" => "ended".to_owned(),
        (Some(how), _) => format!("ended: {how}"),
        _ if head.parked.is_some() => "parked".to_owned(),
        _ if head.outage.is_some() => "the model is away".to_owned(),
        (None, Phase::Waiting) => "waits for a decision".to_owned(),
        (None, Phase::Calling) => "calls tools".to_owned(),
        (None, Phase::Asking) => "asks the model".to_owned(),
        (None, _) => "ended".to_owned(),
    };
    let spent = head.spent;
    let cost = spent.known_cost().map_or_else(|| "not known".to_owned(), |it| it.to_string());
    html! {
        dl .facts {
            div { dt { "State" } dd { (text::line(&standing)) } }
            div { dt { "Turns" } dd { (head.turn) } }
            div { dt { "Tokens" } dd { (spent.usage.input_tokens) " in, " (spent.usage.output_tokens) " out" } }
            div { dt { "Cost" } dd { (cost) } }
            div { dt { "Updated" } dd { (text::time(head.updated)) } }
        }
        @if let Some(parked) = &head.parked { p .alert { (text::lines(&parked.why)) } }
    }
}

fn turn(number: u64, turn: &RecordedTurn) -> Markup {
    let said = turn.said.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text),
        _ => None,
    });
    let (words, calls) = match &turn.answer {
        Some(Message::Assistant { text, calls, .. }) => (text.as_str(), &**calls),
        _ => ("", &[][..]),
    };
    let answers = match &turn.answers {
        Some(Message::ToolResults(answers)) => &**answers,
        _ => &[][..],
    };
    html! {
        li value=(number) {
            @for it in said { p .said { (text::prose(&cut(it))) } }
            @if !words.trim().is_empty() { p { (text::prose(&cut(words.trim()))) } }
            @for (index, call) in calls.iter().enumerate() {
                @let answer = answers.get(index).map(|(_, answer)| answer);
                details #{ "turn-" (number) "-" (index) } {
                    summary {
                        span class={ "outcome " (outcome(answer.map(|it| it.is_error()))) } { }
                        code { (text::line(&call.name)) }
                        " " span .arguments { (text::short(&call.arguments, ARGUMENTS)) }
                    }
                    pre tabindex="0" { (text::json(&cut(&call.arguments))) }
                    @if let Some(answer) = answer { pre tabindex="0" { (text::lines(&cut(&answer.text()))) } }
                    @else { p .note { "No answer yet." } }
                }
            }
        }
    }
}

fn outcome(is_error: Option<bool>) -> &'static str {
    match is_error {
        None => "open",
        Some(false) => "good",
        Some(true) => "bad",
    }
}

fn cut(text: &str) -> String {
    let first: String = text.chars().take(LONGEST).collect();
    if first.len() < text.len() { first + " …" } else { first }
}
