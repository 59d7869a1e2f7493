//! Detects that a run repeats the same failing call: the same tool and arguments, with no other call in between.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolwright::Answer;
use toolwright::provider::ToolCall;
use toolwright::unstable::arguments::canonical;

/// The call that failed last, and how many times in a row it failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failing {
    pub tool: String,
    /// A digest of the arguments, which themselves may hold secrets.
    arguments: String,
    pub times: u32,
}

impl Failing {
    /// Updates the count with a turn. A call that a model makes several times within one turn counts once, since the
    /// model had not read the first answer.
    pub fn after<'a>(
        before: Option<Self>,
        answered: impl IntoIterator<Item = (&'a ToolCall, &'a Answer)>,
    ) -> Option<Self> {
        let mut failing = before;
        let mut is_counted = false;
        for (call, answer) in answered {
            if !answer.is_error() {
                (failing, is_counted) = (None, false);
                continue;
            }
            let arguments = digest(&call.arguments);
            match &mut failing {
                Some(same) if same.tool == call.name && same.arguments == arguments => {
                    same.times += u32::from(!is_counted);
                }
                _ => failing = Some(Self { tool: call.name.clone(), arguments, times: 1 }),
            }
            is_counted = true;
        }
        failing
    }
}

fn digest(arguments: &str) -> String {
    // Arguments that are not valid JSON are compared as text.
    let same = canonical(arguments);
    hex::encode(Sha256::digest(same.as_deref().unwrap_or(arguments)))
}

#[cfg(test)]
mod tests {
    use toolwright::{Output, ToolError};

    use super::*;

    fn times(turns: &[&[(&str, &str, bool)]]) -> u32 {
        let mut failing = None;
        for turn in turns {
            let answered: Vec<(ToolCall, Answer)> = turn
                .iter()
                .map(|(name, arguments, fails)| {
                    let call = ToolCall {
                        id: None,
                        name: (*name).to_owned(),
                        arguments: (*arguments).to_owned(),
                    };
                    let answer: Answer = match fails {
                        true => ToolError::new("no", "no").into(),
                        false => Output::text("yes").into(),
                    };
                    (call, answer)
                })
                .collect();
            failing = Failing::after(failing, answered.iter().map(|(call, answer)| (call, answer)));
        }
        failing.map_or(0, |it: Failing| it.times)
    }

    #[test]
    fn only_the_same_failing_call_in_a_row_counts() {
        let edit = ("edit", r#"{"path":"a","n":1}"#, true);
        let same = ("edit", r#" {"n":1.0, "path":"a"}"#, true);
        assert_eq!(times(&[&[edit], &[same], &[edit]]), 3);
        assert_eq!(times(&[&[edit], &[("edit", r#"{"path":"b","n":1}"#, true)]]), 1);
        assert_eq!(times(&[&[edit], &[("read", "{}", false)], &[edit]]), 1);
        assert_eq!(times(&[&[edit], &[("read", "{}", true)], &[edit]]), 1);
        assert_eq!(times(&[&[edit], &[("edit", edit.1, false)]]), 0);
        assert_eq!(times(&[&[("edit", "{", true)], &[("edit", "{", true)]]), 2);
        assert_eq!(times(&[&[("edit", "{", true)], &[("edit", "{ ", true)]]), 1);
    }

    #[test]
    fn a_call_that_is_made_twice_in_a_turn_counts_once() {
        let edit = ("edit", "{}", true);
        assert_eq!(times(&[&[edit, edit, edit]]), 1);
        assert_eq!(times(&[&[edit, edit], &[edit]]), 2);
    }

    #[test]
    fn the_arguments_are_not_in_it() {
        let call = ToolCall { id: None, name: "log_in".into(), arguments: "hunter2".into() };
        let answer = ToolError::new("no", "no").into();
        let failing = Failing::after(None, [(&call, &answer)]);
        assert!(!serde_json::to_string(&failing).unwrap().contains("hunter2"));
    }
}
