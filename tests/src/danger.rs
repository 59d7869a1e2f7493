//! Danger is a level of the tool, or of each call.

use toolwright::{Call, Danger, DeclaredDanger, tool};

use crate::support::executor;

fn classify(command: &str) -> Danger {
    match command.split_whitespace().next() {
        Some("ls") => Danger::Safe,
        Some("sudo") => Danger::Critical,
        Some("rm") => Danger::Dangerous,
        _ => Danger::Moderate,
    }
}

/// Runs a command.
#[tool(danger = classify(&command))]
async fn bash(
    /// The command.
    command: String,
) -> String {
    command
}

/// Reads.
#[tool(danger = safe)]
async fn danger_safe() {}

/// Writes.
#[tool(danger = moderate)]
async fn danger_moderate() {}

/// Removes.
#[tool(danger = dangerous)]
async fn danger_dangerous() {}

/// Reboots.
#[tool(danger = critical)]
async fn danger_critical() {}

/// Says nothing of danger, but that it only reads.
#[tool(effect = read)]
async fn danger_of_read() {}

/// Says nothing of danger at all.
#[tool]
async fn danger_of_anything() {}

/// S1.23: a static level, one of four, and where none is declared the effect tells.
#[test]
fn a_level_is_declared_or_follows_from_the_effect() {
    let executor = executor([
        DANGER_SAFE,
        DANGER_MODERATE,
        DANGER_DANGEROUS,
        DANGER_CRITICAL,
        DANGER_OF_READ,
        DANGER_OF_ANYTHING,
    ]);
    let declared: Vec<_> = executor.registry().definitions().map(|it| it.danger).collect();
    assert_eq!(
        declared,
        [
            Danger::Safe,
            Danger::Moderate,
            Danger::Dangerous,
            Danger::Critical,
            Danger::Safe,
            Danger::Moderate
        ]
        .map(DeclaredDanger::Level)
    );
    assert!(Danger::Safe < Danger::Moderate && Danger::Dangerous < Danger::Critical);
}

/// S1.24: the danger of a call is computed from its arguments, `ls` is safe and `rm -rf` dangerous.
#[test]
fn an_expression_judges_each_call_by_its_input() {
    let executor = executor([BASH]);
    assert_eq!(executor.registry().get("bash").unwrap().danger, DeclaredDanger::Computed);
    let danger = |arguments: &str| executor.examine(&Call::new("bash", arguments)).unwrap().danger;
    assert_eq!(danger(r#"{"command":"ls"}"#), Danger::Safe);
    assert_eq!(danger(r#"{"command":"rm -rf /"}"#), Danger::Dangerous);
    assert_eq!(danger(r#"{"command":"sudo ls"}"#), Danger::Critical);
}

#[test]
fn a_call_that_cannot_be_read_is_not_judged() {
    let error = executor([BASH]).examine(&Call::new("bash", r#"{"command":[]}"#)).unwrap_err();
    assert_eq!(error.kind(), "invalid_input");
}

#[test]
fn every_level_is_spelled_as_its_json() {
    for level in Danger::ALL {
        assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
    }
    assert!(Danger::ALL.is_sorted());
}
