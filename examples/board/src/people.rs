//! The commands for people: they add tickets, show them, answer questions, decide about criteria, and move tickets to
//! any column.

mod command;
mod show;

use std::path::Path;

use clap::ArgMatches;
use jiff::Timestamp;
use toolwright::runtime::printable;

pub use self::command::{NAMES, commands};
pub use self::show::list as board;
use crate::executables::analyze;
use crate::git;
use crate::ticket::{Author, CommentKind, Evidence, NewComment, NewTicket, Project, State};
use crate::{Board, BoardError};

/// Why a command failed, for a person.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error("{0}")]
    Usage(String),
}

/// Runs one of the commands in [`NAMES`] and returns its output. `folder` is the folder of the board.
///
/// # Errors
/// When the board refuses the command. Then nothing is written, except by `criteria`, which makes its changes one by
/// one.
pub fn run(
    board: &Board,
    folder: &Path,
    name: &str,
    matches: &ArgMatches,
    now: Timestamp,
) -> Result<String, PeopleError> {
    let given = Given(matches);
    match name {
        "init" => init(board, &given),
        "new" => new(board, &given, now),
        "list" => show::list(board),
        "show" => show::ticket(board, folder, given.ticket()?, given.flag("json")),
        "comment" => comment(board, &given, now),
        "move" => move_ticket(board, &given, now),
        "criteria" => criteria(board, &given, now),
        other => Err(PeopleError::Usage(format!(
            "found the command `{other}`, expected one of {}",
            NAMES.join(", ")
        ))),
    }
}

/// The parsed arguments of a command.
struct Given<'a>(&'a ArgMatches);

impl Given<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get_one::<String>(name).map(String::as_str)
    }

    fn needed(&self, name: &str) -> Result<&str, PeopleError> {
        self.text(name)
            .ok_or_else(|| PeopleError::Usage(format!("found no `{name}`, expected one")))
    }

    fn many(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get_many::<String>(name).unwrap_or_default().map(String::as_str)
    }

    fn numbers(&self, name: &str) -> impl Iterator<Item = i64> {
        self.0.get_many::<i64>(name).unwrap_or_default().copied()
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get_flag(name)
    }

    fn ticket(&self) -> Result<i64, PeopleError> {
        let found = self.0.get_one::<i64>("ticket").copied();
        found.ok_or_else(|| PeopleError::Usage("found no ticket, expected its id".to_owned()))
    }

    /// Returns the name of the person who runs the command, or an error if no name is known.
    fn person(&self) -> Result<String, PeopleError> {
        let own = || std::env::var("USER").ok().filter(|it| !it.is_empty());
        self.text("by").map(str::to_owned).or_else(own).ok_or_else(|| {
            PeopleError::Usage(
                "found no name in `USER`, expected who you are; say it with `--by`".to_owned(),
            )
        })
    }

    /// Parses an argument that has to be one of a few words.
    fn word<T: std::str::FromStr<Err = crate::ticket::UnknownWord>>(
        &self,
        name: &str,
    ) -> Result<T, PeopleError> {
        let parsed = self.needed(name)?.parse();
        parsed.map_err(|error| PeopleError::Usage(format!("`{name}`: {error}")))
    }
}

fn init(board: &Board, given: &Given<'_>) -> Result<String, PeopleError> {
    let repository = Path::new(given.needed("repository")?).canonicalize();
    let repository = repository
        .map_err(|error| PeopleError::Usage(format!("the repository cannot be opened: {error}")))?;
    let branch = match given.text("branch") {
        Some(branch) => branch.to_owned(),
        None => git::ask(&repository, &["branch", "--show-current"]).map_err(|why| {
            PeopleError::Usage(format!("the branch is not known, say it with `--branch`: {why}"))
        })?,
    };
    let language = analyze::analysis(&repository).map_err(PeopleError::Usage)?.language;
    let project = Project {
        id: 0,
        name: given.needed("name")?.to_owned(),
        repository: repository.display().to_string(),
        url: given.text("url").map(str::to_owned),
        language: language.map(str::to_owned),
        branch,
        persona: given.needed("persona")?.to_owned(),
    };
    let id = board.add_project(&project)?;
    Ok(format!("project {id} is {}", printable::line(&project.name)))
}

fn new(board: &Board, given: &Given<'_>, now: Timestamp) -> Result<String, PeopleError> {
    let project = match given.text("project") {
        Some(name) => board.project_named(name)?,
        None => match &board.projects()?[..] {
            [only] => only.clone(),
            several => {
                let found = several.len();
                return Err(PeopleError::Usage(format!(
                    "found {found} projects, expected one; name it with `--project`"
                )));
            }
        },
    };
    let criteria = given.many("criterion").map(Evidence::read_criterion);
    let new = NewTicket {
        project: project.id,
        kind: given.word("type")?,
        state: if given.flag("research") { State::Research } else { State::Backlog },
        title: given.needed("title")?.to_owned(),
        description: given.needed("description")?.to_owned(),
        profile: given.needed("profile")?.to_owned(),
        criteria: criteria.collect::<Result<_, _>>().map_err(PeopleError::Usage)?,
    };
    let id = board.add_ticket(&new, now)?;
    Ok(format!("ticket {id} is in {}", new.state))
}

fn comment(board: &Board, given: &Given<'_>, now: Timestamp) -> Result<String, PeopleError> {
    let (ticket, person) = (given.ticket()?, given.person()?);
    board.ticket(ticket)?;
    if let Some(thread) = given.numbers("resolve").next() {
        board.resolve_comment(ticket, thread)?;
        return Ok(format!("the thread of comment {thread} is resolved"));
    }
    let new = NewComment {
        ticket,
        parent: given.numbers("answer").next(),
        author: Author::Human,
        author_id: &person,
        author_name: &person,
        kind: CommentKind::Feedback,
        content: given.needed("text")?,
        key: None,
    };
    Ok(format!("comment {}", board.add_comment(&new, now)?))
}

fn move_ticket(board: &Board, given: &Given<'_>, now: Timestamp) -> Result<String, PeopleError> {
    let (ticket, to, person) = (given.ticket()?, given.word("state")?, given.person()?);
    let from = board.move_by_person(ticket, to, given.needed("reason")?, &person, now)?;
    Ok(format!("ticket {ticket} is moved from {from} to {to}"))
}

fn criteria(board: &Board, given: &Given<'_>, now: Timestamp) -> Result<String, PeopleError> {
    let (ticket, person) = (given.ticket()?, given.person()?);
    for written in given.many("add") {
        let (evidence, text) = Evidence::read_criterion(written).map_err(PeopleError::Usage)?;
        board.add_criterion(ticket, &evidence, &text)?;
    }
    for id in given.numbers("remove") {
        board.remove_criterion(ticket, id)?;
    }
    let said = given.numbers("met").map(|id| (id, true));
    for (id, met) in said.chain(given.numbers("unmet").map(|id| (id, false))) {
        let known = board.criteria(ticket)?.into_iter().find(|it| it.id == id);
        let missing =
            || BoardError::Missing { what: "criterion", id: format!("{id} on ticket {ticket}") };
        let mut criterion = known.ok_or_else(missing)?;
        if criterion.evidence.is_checked_by_program() {
            let evidence = &criterion.evidence;
            return Err(PeopleError::Usage(format!(
                "criterion {id} is shown by `{evidence}`, which `bonsai-criteria check` finds out; a person decides where it is `person`"
            )));
        }
        (criterion.met, criterion.tree) = (met, None);
        criterion.finding = Some(format!("{person} says so"));
        board.record_finding(ticket, &criterion, now)?;
    }
    show::criteria(board, ticket)
}
