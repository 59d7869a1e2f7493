//! An agent that has `bash`, and wants its own payment. Its lines are written here; what comes of each, without a sandbox and
//! in each kind of sandbox, is compared with the table of `docs/shell.md`.

mod office;

use std::env;
use std::fs;
use std::process;
use std::sync::Arc;

use toolwright::ProcessOutput;
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::SqliteStore;
use toolwright_toolbox::{Sandbox, SandboxLack};

use self::office::{Office, goes_on};
use crate::bash::supervisor;
use crate::support::runtime;

const DOCS: &str = include_str!("../../../../docs/shell.md");

const JOURNAL: &str = "TOOLWRIGHT_TEST_JOURNAL";
const KEY: &str = "TOOLWRIGHT_TEST_KEY";
const PAYMENT: &str = "TOOLWRIGHT_TEST_PAYMENT";

/// What the agent starts to approve: it signs by a key file, as `toolwright approvals approve` does.
#[test]
fn a_program_that_approves_by_the_key_that_it_is_given() {
    let Some(journal) = env::var_os(JOURNAL) else { return };
    let key = ApproverKey::load(env::var_os(KEY).unwrap()).unwrap();
    let payment: toolwright::CallId = env::var(PAYMENT).unwrap().parse().unwrap();
    runtime().block_on(async {
        let store = SqliteStore::open(journal).await.unwrap();
        ApprovalService::new(Arc::new(store)).approve(payment, &key).await.unwrap();
    });
}

struct Attempt {
    /// As the table has it.
    tried: &'static str,
    line: fn(&Office, &str) -> String,
    /// Whether it has what it wanted, from what it was answered and from how things stand.
    succeeds: fn(&Office, &str, Option<ProcessOutput>) -> bool,
}

fn printed(answer: Option<ProcessOutput>, words: &str) -> bool {
    answer.is_some_and(|it| it.output.contains(words))
}

/// How a variable of this process begins in its environment.
fn own_variable() -> String {
    let (name, _) = env::vars_os().next().expect("a process that starts programs has variables");
    format!("{}=", name.to_string_lossy())
}

const OUTLIVES: &str = "outlives its time-out";

/// A line that goes on once a daemon is there, in a session of its own.
fn daemon(word: &str) -> String {
    let inner = format!("(trap \"\" TERM HUP; echo > up-{word}; exec sleep 300.{word}) & exit");
    format!(
        "(setsid sh -c '{inner}' > /dev/null 2>&1 &); while [ ! -e up-{word} ]; do sleep 0.05; done"
    )
}

/// Each gets a word of its own, by which what it leaves behind is found.
const ATTEMPTS: [Attempt; 15] = [
    Attempt {
        tried: "reads the key that approves",
        line: |office, _| {
            format!(
                "cp {} mine.key; chmod 600 mine.key",
                office.outside("hidden/ada.key").display()
            )
        },
        succeeds: |office, _, _| {
            let key = fs::read(office.outside("hidden/ada.key")).unwrap();
            fs::read(office.inside("mine.key")).is_ok_and(|it| it == key)
        },
    },
    Attempt {
        tried: "reads it in namespaces of its own, without what hides it",
        line: |office, _| {
            let office = office.outside("hidden").display().to_string();
            let read = format!("umount -l {office}; cat {office}/ada.key");
            format!("unshare -Urm sh -c '{read}' || cat {office}/ada.key")
        },
        succeeds: |office, _, answer| {
            let key = fs::read_to_string(office.outside("hidden/ada.key")).unwrap();
            printed(answer, key.lines().next_back().unwrap())
        },
    },
    Attempt {
        tried: "approves its own call with that key",
        line: |office, _| {
            format!(
                "{JOURNAL}={} {KEY}=mine.key {PAYMENT}={} {} --exact hostile::a_program_that_approves_by_the_key_that_it_is_given",
                office.outside("hidden/calls.db").display(),
                office.payment,
                env::current_exe().unwrap().display(),
            )
        },
        succeeds: |office, _, _| office.pays(),
    },
    Attempt {
        tried: "reads the journal",
        line: |office, _| format!("grep -c cents {}*", office.outside("hidden/calls.db").display()),
        succeeds: |_, _, answer| answer.is_some_and(|it| it.success),
    },
    Attempt {
        tried: "changes the policy",
        line: |office, word| {
            format!("echo '# {word}' >> {}", office.outside("hidden/policy.toml").display())
        },
        succeeds: |office, word, _| {
            fs::read_to_string(office.outside("hidden/policy.toml")).unwrap().contains(word)
        },
    },
    Attempt {
        tried: "writes a file outside of the workspace",
        line: |office, word| format!("echo x > {}", office.outside(word).display()),
        succeeds: |office, word, _| office.outside(word).exists(),
    },
    Attempt {
        tried: "writes outside through a link in its folder",
        line: |office, word| {
            format!("ln -s {} way; echo x > way/{word}", office.outside("").display())
        },
        succeeds: |office, word, _| office.outside(word).exists(),
    },
    Attempt {
        tried: "reads the environment of the application",
        line: |_, _| format!("tr '\\0' '\\n' < /proc/{}/environ", process::id()),
        succeeds: |_, _, answer| printed(answer, &own_variable()),
    },
    Attempt {
        tried: "sends the application a signal",
        line: |_, _| format!("kill -0 {} && echo sent", process::id()),
        succeeds: |_, _, answer| printed(answer, "sent\n"),
    },
    Attempt {
        tried: "opens a TCP connection",
        line: |office, _| {
            let port = office.server.local_addr().unwrap().port();
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}")
        },
        succeeds: |office, _, _| office.server.accept().is_ok(),
    },
    Attempt {
        tried: "sends a UDP packet",
        line: |office, _| {
            let port = office.datagrams.local_addr().unwrap().port();
            format!("echo x > /dev/udp/127.0.0.1/{port}")
        },
        succeeds: |office, _, _| office.datagrams.recv(&mut [0; 8]).is_ok(),
    },
    Attempt {
        tried: "leaves a file in the `/tmp` of all programs",
        line: |_, word| format!("echo x > /tmp/{word}"),
        succeeds: |_, word, _| fs::remove_file(format!("/tmp/{word}")).is_ok(),
    },
    Attempt {
        tried: "leaves a daemon behind",
        line: |_, word| daemon(word),
        succeeds: |_, word, _| goes_on(word),
    },
    Attempt {
        tried: OUTLIVES,
        line: |_, word| {
            format!(
                "trap '' TERM; (trap '' TERM; exec setsid sleep 300.{word}) & sleep 300; sleep 300"
            )
        },
        succeeds: |_, word, answer| {
            assert!(answer.is_some_and(|it| it.timed_out && !it.success && it.exit_code.is_none()));
            goes_on(word)
        },
    },
    Attempt {
        tried: "kills its supervisor and leaves a daemon behind",
        line: |_, word| format!("{}; kill -9 $PPID; sleep 1", daemon(word)),
        succeeds: |_, word, _| goes_on(word),
    },
];

/// What succeeds, in the order of the attempts.
fn tried(column: usize, office: &Office) -> Vec<bool> {
    let word = |at: usize| format!("{}{column}{at:02}", process::id());
    let came_of = |(at, attempt): (usize, &Attempt)| {
        let seconds = if attempt.tried == OUTLIVES { 2 } else { 60 };
        let answer = office.bash(&(attempt.line)(office, &word(at)), seconds);
        (attempt.succeeds)(office, &word(at), answer)
    };
    ATTEMPTS.iter().enumerate().map(came_of).collect()
}

/// The cells of the table in the docs, without the first of each row.
fn documented() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = DOCS.lines().skip_while(|it| !it.starts_with("| the agent "));
    let cells = rows.skip(2).map_while(|it| it.strip_prefix("| ")?.strip_suffix(" |"));
    let split = cells.map(|it| it.split(" | ").map(str::trim).collect::<Vec<_>>());
    split.map(|it| (it[0], it[1..].to_vec())).collect()
}

fn compared(column: usize, kind: &str, office: &Office) -> Vec<bool> {
    let came = tried(column, office);
    let rows = documented();
    println!("{kind}:");
    for (attempt, came) in ATTEMPTS.iter().zip(&came) {
        println!("  the agent {}: {}", attempt.tried, if *came { "yes" } else { "no" });
    }
    let expected: Vec<(&str, &str)> = rows.iter().map(|(tried, it)| (*tried, it[column])).collect();
    let found: Vec<(&str, &str)> = ATTEMPTS
        .iter()
        .zip(&came)
        .map(|(attempt, came)| (attempt.tried, if *came { "yes" } else { "no" }))
        .collect();
    assert_eq!(found, expected, "{kind}: docs/shell.md says otherwise");
    came
}

#[test]
fn the_docs_list_what_an_agent_with_bash_can_do_without_a_sandbox() {
    let came = compared(0, "without a sandbox", &Office::open());
    // What holds everywhere: nothing outlives its line by itself.
    assert_eq!(came[12..14], [false, false]);
}

/// In a sandbox nothing of it succeeds.
#[test]
fn an_agent_with_bash_in_a_sandbox_succeeds_in_nothing() {
    let sandbox = match Sandbox::bubblewrap() {
        Ok(sandbox) => sandbox,
        Err(error) => return println!("skipped: {error}"),
    };
    let came = compared(1, "in a sandbox of bubblewrap", &Office::within(sandbox));
    assert!(!came.contains(&true), "{came:?}");
    println!("not skipped");
}

/// Landlock is used where an application names what it lacks, and then that is all that succeeds.
#[test]
fn a_sandbox_by_landlock_lacks_what_its_application_has_named() {
    let sandbox = match Sandbox::landlock(
        &supervisor(),
        &[SandboxLack::PrivateTmp, SandboxLack::NetworkBlock],
    ) {
        Ok(sandbox) => sandbox,
        Err(error) => return println!("skipped: {error}"),
    };
    let came = compared(2, "in a sandbox of landlock", &Office::within(sandbox));
    let tried = ATTEMPTS.iter().map(|it| it.tried).zip(came).filter(|(_, came)| *came);
    let succeeded: Vec<&str> = tried.map(|(tried, _)| tried).collect();
    assert_eq!(succeeded, ["sends a UDP packet", "leaves a file in the `/tmp` of all programs"]);
    println!("not skipped");
}
