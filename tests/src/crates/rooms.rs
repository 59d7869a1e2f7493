//! The rooms within a crate: each is a folder with a small facade, and names the rooms below it.

use std::path::{Path, PathBuf};

use super::walls::files::Files;

/// The rooms of a crate, from the lowest floor up.
struct Rooms {
    source: &'static str,
    floors: &'static [&'static str],
    /// The file that every room may name, because its type is the one that users hold.
    facade: Option<&'static str>,
}

/// What is for tests has a floor of its own, above all.
const AGENT: Rooms = Rooms {
    source: "extensions/agent/src",
    floors: &[
        "recording",
        "history",
        "results",
        "limits",
        "search",
        "model",
        "http",
        "events",
        "guards",
        "plugin",
        "guidance",
        "run",
        "durable",
        "agent",
        "testing",
    ],
    facade: Some("agent"),
};

const EXECUTOR: Rooms = Rooms {
    source: "runtime/executor/src",
    floors: &[
        "handed_over",
        "event",
        "retry",
        "batch",
        "file_changes",
        "dynamic",
        "catalog",
        "registry",
        "call",
        "stage",
        "middleware",
        "attempt",
        "lifecycle",
        "executor",
        "telemetry",
    ],
    facade: None,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

impl Rooms {
    fn floor(&self, file: &str) -> Option<usize> {
        let room = file.split('/').next()?;
        self.floors.iter().position(|it| *it == room)
    }

    /// What is wrong with the arrows between files.
    fn problems(&self, files: &Files) -> Vec<String> {
        let mut problems: Vec<String> = files
            .through_root()
            .filter(|(from, _)| !is_test(from))
            .map(|(from, name)| format!("{from} names `crate::{name}`, and not the room of it"))
            .collect();
        for (from, to) in files.arrows().filter(|(from, _)| !from.is_empty() && !is_test(from)) {
            match (self.floor(&from), self.floor(&to)) {
                (None, _) => problems.push(format!("{from} is in no room")),
                (Some(here), Some(there)) if there > here && Some(&*to) != self.facade => {
                    problems.push(format!("{from} names {to}, which is above it"));
                }
                _ => {}
            }
        }
        problems.sort();
        problems.dedup();
        problems
    }

    fn check(&self) {
        let source = root().join(self.source);
        for entry in std::fs::read_dir(&source).expect("a folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            let room = name.trim_end_matches(".rs");
            assert!(room == "lib" || self.floors.contains(&room), "{name} is in no room");
        }
        let problems = self.problems(&Files::of(&source));
        assert!(problems.is_empty(), "{problems:#?}");
        let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text");
        let floors: Vec<String> = self.floors.iter().map(|room| format!("`{room}`")).collect();
        let floors = floors.join(" < ");
        assert!(architecture.contains(&floors), "ARCHITECTURE.md does not say {floors}");
    }
}

/// Tests may use everything.
fn is_test(file: &str) -> bool {
    file.split('/').any(|part| part == "tests")
}

#[test]
fn each_room_of_the_agent_names_the_rooms_below_it_as_the_architecture_draws_them() {
    AGENT.check();
}

#[test]
fn each_room_of_the_executor_names_the_rooms_below_it_as_the_architecture_draws_them() {
    EXECUTOR.check();
}

#[test]
fn an_arrow_that_points_up_is_found_and_so_is_one_through_the_root() {
    let files = Files::of_texts(&[
        ("lib", "mod agent; mod history; mod run; pub use history::Message; pub use run::step;"),
        ("agent", "use crate::run::step; pub struct Agent;"),
        ("history", "mod message; pub use self::message::Message;"),
        ("history/message", "use crate::run::step; pub struct Message;"),
        ("run", "use crate::Message; use crate::agent::Agent; pub fn step() {}"),
    ]);
    assert_eq!(
        AGENT.problems(&files),
        [
            "history/message names run, which is above it",
            "run names `crate::Message`, and not the room of it",
        ]
    );
}
