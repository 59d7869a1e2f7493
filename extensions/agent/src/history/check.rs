//! Checks the rule that every history must obey: the calls of a model's message are answered in the next message, each
//! exactly once, in call order.

use toolwright::provider::ToolCall;

use crate::history::Message;

/// The reason why a history is not valid. Messages are counted from 0.
///
/// ```
/// use toolwright::provider::ToolCall;
/// use toolwright_agent::{HistoryProblem, Message, check};
///
/// let call = ToolCall { id: Some("c1".into()), name: "read".into(), arguments: "{}".into() };
/// let history = [Message::user("go"), Message::assistant("", [call]), Message::user("well?")];
/// assert_eq!(check(&history).unwrap_err().to_string(), "message 1 calls 1 tools, and message 2 has no answers to them");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryProblem {
    /// The calls of a message have no answers in the next message.
    #[error("message {message} calls {calls} tools, and message {} has no answers to them", message + 1)]
    Unanswered {
        /// The index of the model's message.
        message: usize,
        /// How many calls the message makes.
        calls: usize,
    },
    /// A message has another number of answers than the message before it has calls, or has no answers at all.
    #[error("message {message} has {found} answers to {expected} calls, expected one for each")]
    Count {
        /// The index of the message with the answers.
        message: usize,
        /// The number of calls in the message before.
        expected: usize,
        /// The number of answers in the message.
        found: usize,
    },
    /// An answer is for another call than the call at the same index.
    #[error(
        "answer {index} of message {message} is to a call of `{found}`, expected one to call {index} of `{expected}`"
    )]
    OtherCall {
        /// The index of the message with the answers.
        message: usize,
        /// The index of the answer in its message, counted from 0.
        index: usize,
        /// The tool of the call at that index.
        expected: String,
        /// The tool that the answer names.
        found: String,
    },
}
toolwright::unstable::debug_as_sentence!(HistoryProblem);

/// Checks that each call of a history has exactly one answer, in call order. Returns the calls of the last message,
/// which may still be without answers.
///
/// # Errors
/// The first problem.
pub fn check(history: &[Message]) -> Result<&[ToolCall], HistoryProblem> {
    let mut open: &[ToolCall] = &[];
    for (message, it) in history.iter().enumerate() {
        let Message::ToolResults(answered) = it else {
            if !open.is_empty() {
                return Err(HistoryProblem::Unanswered { message: message - 1, calls: open.len() });
            }
            open = it.calls();
            continue;
        };
        if answered.len() != open.len() || open.is_empty() {
            let (expected, found) = (open.len(), answered.len());
            return Err(HistoryProblem::Count { message, expected, found });
        }
        for (index, (call, (to, _))) in open.iter().zip(answered.iter()).enumerate() {
            if call.id != to.id || call.name != to.name {
                let (expected, found) = (call.name.clone(), to.name.clone());
                return Err(HistoryProblem::OtherCall { message, index, expected, found });
            }
        }
        open = &[];
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use toolwright::{Answer, Output};

    use super::*;

    fn call(name: &str) -> ToolCall {
        ToolCall { id: Some(format!("id of {name}")), name: name.into(), arguments: "{}".into() }
    }

    fn answers(names: &[&str]) -> Message {
        let done = || Answer::from(Output::text("done"));
        Message::tool_results(names.iter().map(|name| (call(name), done())))
    }

    fn calls(names: &[&str]) -> Message {
        Message::assistant("", names.iter().map(|name| call(name)).collect::<Vec<_>>())
    }

    #[test]
    fn a_sound_history_gives_its_open_calls() {
        let mut history = vec![Message::user("go"), calls(&["a", "b"]), answers(&["a", "b"])];
        assert_eq!(check(&history).unwrap(), []);
        history.push(calls(&["c"]));
        assert_eq!(check(&history).unwrap(), [call("c")]);
        assert_eq!(check(&[]).unwrap(), []);
    }

    #[test]
    fn every_breach_is_found() {
        for (rest, words) in [
            (vec![calls(&["a"]), calls(&["b"])], "message 1 calls 1 tools"),
            (vec![answers(&["a"])], "1 answers to 0 calls"),
            (vec![answers(&[])], "0 answers to 0 calls"),
            (vec![calls(&["a", "b"]), answers(&["a"])], "1 answers to 2 calls"),
            (
                vec![calls(&["a", "b"]), answers(&["b", "a"])],
                "answer 0 of message 2 is to a call of `b`",
            ),
            (vec![calls(&["a"]), answers(&["a"]), answers(&["a"])], "1 answers to 0 calls"),
        ] {
            let history: Vec<Message> = [Message::user("go")].into_iter().chain(rest).collect();
            let problem = check(&history).unwrap_err().to_string();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
