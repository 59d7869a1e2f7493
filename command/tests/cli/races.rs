//! Two people decide at once.

use std::process::Stdio;

use toolwright::journal::State;

use super::journal::{Journal, PENDING};

#[test]
fn of_two_decisions_at_once_one_wins_and_the_other_is_told() {
    for _ in 0..8 {
        let journal = Journal::new();
        let bob = journal.path("bob.key");
        let bob = bob.to_str().unwrap();
        let commands = [
            &["approvals", "approve", PENDING][..],
            &["approvals", "reject", PENDING, "--reason", "no", "--key", bob],
        ];
        let children = commands.map(|arguments| {
            let mut command = journal.command(arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let [ada, bob] = children.map(|child| child.wait_with_output().unwrap());
        let (winner, loser, state) = match ada.status.code() {
            Some(0) => ("ada", bob, State::Ready),
            _ => ("bob", ada, State::Rejected),
        };
        let words = String::from_utf8(loser.stderr).unwrap();
        assert_eq!(loser.status.code(), Some(4), "{words}");
        assert!(words.contains(&format!("by \"{winner}\"")), "{words}");
        assert_eq!(journal.get(PENDING).state, state);
        let decisions = journal.history(PENDING).iter().filter(|it| it.signed.is_some()).count();
        assert_eq!(decisions, 1);
    }
}
