//! The recorded board, in processes that are killed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use board::Board;
use board::offline::prepare;
use board::ticket::{CommentKind, NewTicket, State, TicketKind};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::support::run_git;

fn offline(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_board"));
    command.arg("--offline").arg("--folder").arg(folder);
    command
}

/// What the three tickets are when all is done: no step twice, none lost.
fn is_done(folder: &Path) {
    let board = Board::open(folder.join("board.db")).unwrap();
    let posted = |ticket| -> Vec<CommentKind> {
        board.newest_comments(ticket, 9).unwrap().iter().map(|it| it.kind).collect()
    };
    let moved =
        |ticket| -> Vec<State> { board.moves(ticket).unwrap().iter().map(|it| it.to).collect() };
    assert_eq!(moved(1), [State::InProgress, State::Verification]);
    assert_eq!(posted(1), [CommentKind::Completion]);
    assert_eq!((moved(2).len(), posted(2)), (0, vec![CommentKind::Question]));
    assert_eq!((moved(3), posted(3)), (vec![State::InProgress], vec![CommentKind::Status]));
    let commits = run_git(&folder.join("repository"), &["log", "--oneline", "main..ticket-1"]);
    assert_eq!(commits.lines().count(), 1, "{commits}");
}

/// Two processes are killed, the second a little later than the first; the third gets to the end. A third kill in the
/// same long call would end that call for good, as it should, and the recorded session with it.
#[test]
fn a_runner_that_is_killed_again_and_again_goes_on_and_does_nothing_twice() {
    let folder = TempDir::new().unwrap();
    for kills in 0..2 {
        let mut child =
            offline(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The moment is any: what is compared is what was done.
        sleep(Duration::from_millis(600 + 900 * kills));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = offline(folder.path()).output().unwrap();
    let [printed, errors] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(output.status.success(), "{printed}{errors}");
    is_done(folder.path());
}

/// Processes are killed while they make the repository, and between the tickets.
#[test]
fn a_runner_that_was_killed_in_the_preparation_is_prepared_by_the_next() {
    let folder = TempDir::new().unwrap();
    let unfinished = folder.path().join("repository.unfinished");
    fs::create_dir(&unfinished).unwrap();
    run_git(&unfinished, &["init", "--quiet"]);
    let board = Board::open(folder.path().join("board.db")).unwrap();
    let now = Timestamp::now();
    prepare(folder.path(), &board, now).unwrap();
    let whole = titles(&board);
    assert!(!unfinished.exists());
    assert_eq!(
        run_git(&folder.path().join("repository"), &["log", "--oneline"]).lines().count(),
        1
    );

    for kept in 0..whole.len() {
        let killed = Board::open(folder.path().join(format!("killed-{kept}.db"))).unwrap();
        let mut project = board.projects().unwrap().remove(0);
        project.id = killed.add_project(&project).unwrap();
        for title in &whole[..kept] {
            let ticket = NewTicket {
                project: project.id,
                kind: TicketKind::Bug,
                state: State::Research,
                title: title.clone(),
                description: String::new(),
                profile: "developer".to_owned(),
                criteria: Vec::new(),
            };
            killed.add_ticket(&ticket, now).unwrap();
        }
        prepare(folder.path(), &killed, now).unwrap();
        assert_eq!((titles(&killed), killed.projects().unwrap().len()), (whole.clone(), 1));
    }
}

fn titles(board: &Board) -> Vec<String> {
    board.tickets(None).unwrap().into_iter().map(|it| it.title).collect()
}
