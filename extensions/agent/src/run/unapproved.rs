//! Reports a refused call to the person who started the program, if there is no approver. The model reads only the
//! refusal, and only the author of the program can add an approver.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright::{Answer, Executor, error_kind};

/// Reports on standard error the first call of an agent that is refused because it has no approver; `was_said` is the
/// agent's flag.
pub(crate) fn report(executor: &Executor, was_said: &AtomicBool, answers: &[Answer]) {
    // With a journal, calls may wait for a person, and the executor itself reports an approver that fails.
    if executor.worker().is_some() {
        return;
    }
    let Some(words) = answers.iter().find_map(in_words) else { return };
    if !was_said.swap(true, Ordering::Relaxed) {
        // There is nowhere to report a failed write.
        let _ = writeln!(std::io::stderr(), "{}", toolwright::printable::line(&words));
    }
}

/// Explains why a call was refused without an approver, and lists the remedies.
fn in_words(answer: &Answer) -> Option<String> {
    let error = answer.error().filter(|error| error.kind() == error_kind::APPROVAL_REQUIRED)?;
    Some(format!("a call was refused: {error}: {}", error.source()?))
}

#[cfg(test)]
mod tests {
    use toolwright::{Call, Registry, tool};

    use super::*;

    /// Pays.
    #[tool(effect = once, writes(), danger = moderate)]
    async fn pay() {}

    /// Fails.
    #[tool(effect = read)]
    async fn fail() -> Result<(), toolwright::ToolError> {
        Err(toolwright::ToolError::new("broken", "it is broken"))
    }

    #[tokio::test]
    async fn a_call_without_an_approver_is_said_with_the_ways_on() {
        let executor = Executor::builder(Registry::of([PAY, FAIL]).unwrap()).build().unwrap();
        let answer = async |name| executor.call(&Call::new(name, "{}")).await;
        let words = in_words(&answer("pay").await).unwrap();
        for part in ["a call was refused: `pay` needs", ".approver(", ".policy(", ".unrestricted()"]
        {
            assert!(words.contains(part), "{words}");
        }
        assert_eq!(in_words(&answer("fail").await), None);
    }
}
