//! `bonsai-plan` makes the skeleton of a plan for a ticket, without a model: what to find out, one step for each
//! criterion, what to check at the end, and which questions are open.

use std::fs;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde::{Deserialize, Serialize};

use super::Report;

/// A ticket as `ticket_read` and `board show --json` write it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TicketFile {
    title: String,
    description: String,
    acceptance_criteria: Vec<CriterionOfFile>,
    #[serde(default)]
    comments: Vec<CommentOfFile>,
}

#[derive(Debug, Deserialize)]
struct CriterionOfFile {
    text: String,
    evidence: String,
    met: bool,
}

#[derive(Debug, Deserialize)]
struct CommentOfFile {
    #[serde(rename = "type")]
    kind: String,
    content: String,
    resolved: bool,
}

/// A plan.
#[derive(Debug, Serialize)]
pub struct Plan {
    pub title: String,
    pub steps: Vec<Step>,
    /// The questions that are not resolved.
    pub open_questions: Vec<String>,
}

/// A step of a plan.
#[derive(Debug, Serialize)]
pub struct Step {
    pub step: String,
    /// How one can tell that the step is done.
    pub done_when: String,
}

/// Declares the arguments of the program.
#[must_use]
pub fn command() -> Command {
    let help = "A file with the ticket, as `board show --json` writes it";
    let file =
        Arg::new("ticket-file").required(true).value_parser(value_parser!(PathBuf)).help(help);
    Command::new("bonsai-plan").about("Makes the skeleton of a plan of a ticket").arg(file)
}

/// Makes the plan.
///
/// # Errors
/// When the file cannot be read, or does not hold a ticket.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    let file: &PathBuf = matches.get_one("ticket-file").ok_or("found no file, expected one")?;
    let text = fs::read_to_string(file);
    let text = text.map_err(|error| format!("`{}` cannot be read: {error}", file.display()))?;
    Report::of(
        &plan(&text).map_err(|why| format!("`{}` holds no ticket: {why}", file.display()))?,
        true,
    )
}

/// Makes the plan of a ticket, which is passed as JSON.
///
/// # Errors
/// When the text is not a ticket.
pub fn plan(ticket: &str) -> Result<Plan, String> {
    let ticket: TicketFile = serde_json::from_str(ticket).map_err(|error| error.to_string())?;
    let (met, open): (Vec<_>, Vec<_>) = ticket.acceptance_criteria.iter().partition(|it| it.met);
    let first =
        ticket.description.lines().find(|it| !it.trim().is_empty()).unwrap_or(&ticket.title);
    let mut steps = vec![Step {
        step: format!("Find the places that this is about: {}", first.trim()),
        done_when: "each place is named with its file, and what is there now".to_owned(),
    }];
    steps.extend(open.iter().map(|it| Step {
        step: it.text.clone(),
        done_when: match it.evidence.as_str() {
            "tests" => "the test suite passes".to_owned(),
            "lint" => "the linter finds nothing".to_owned(),
            "person" => "a person says so".to_owned(),
            file => format!("there is the {file}"),
        },
    }));
    let words = match met.len() {
        0 => "every criterion is met".to_owned(),
        count => format!("every criterion is met, those {count} too that are met already"),
    };
    steps.push(Step { step: "Check all acceptance criteria".to_owned(), done_when: words });
    let asked = ticket.comments.into_iter().filter(|it| it.kind == "question" && !it.resolved);
    Ok(Plan { title: ticket.title, steps, open_questions: asked.map(|it| it.content).collect() })
}
