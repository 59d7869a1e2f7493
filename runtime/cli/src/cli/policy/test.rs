//! `policy test CASES`: checks whether the decisions on calls are the expected ones.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;

use super::case::{self, Case, ExpectedOutcome};
use super::explain::ExplanationLine;
use crate::cli::Exit;
use crate::cli::flags::{self, Form};
use crate::cli::run::for_people;
use crate::cli::streams::{complain, print};
use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_executor::executor::Executor;
use toolwright_policy::policy::{Explanation, Policy};

pub(super) const NAME: &str = "test";

const CASES: &str = "cases";

/// The result of trying a case.
struct TriedCase<'a> {
    line: usize,
    case: &'a Case,
    found: Result<Explanation, ToolError>,
}

pub(super) fn command() -> Command {
    let cases = Arg::new(CASES).value_name("CASES").required(true);
    Command::new(NAME)
        .about("Try a policy on calls with expectations")
        .long_about(
            "Tries a policy on cases, a JSON object a line: `tool`, `arguments`, `user`, `expect` (allow, ask, always_ask, \
             deny or queue) and `because` (the rule that decides, or mode, tool or plan); all but `tool` and `expect` may be \
             left out. No tool is run. The examples of the rules are tried as well.",
        )
        .arg(cases.value_parser(value_parser!(PathBuf)).help("The file with the cases"))
        .arg(super::flag())
        .arg(flags::output("text"))
}

pub(super) fn run(executor: &Executor, matches: &ArgMatches) -> Result<(), Exit> {
    // Building the policy succeeds only if its rules agree with their own examples.
    let policy = super::policy(executor, matches)?;
    let Some(file) = matches.get_one::<PathBuf>(CASES) else { return Err(Exit::Usage) };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        complain(Exit::Usage, format!("the cases `{name}` cannot be read: {error}"))
    })?;
    let cases = case::read(&name, &text).map_err(|problems| complain(Exit::Usage, problems))?;
    let form = flags::form(matches);
    let mut failed = 0;
    for (line, case) in &cases {
        let tried = TriedCase { line: *line, case, found: judge(executor, &policy, case) };
        failed += usize::from(!tried.holds());
        let words = match form {
            Form::Json => tried.json(),
            Form::Text => tried.words(&name),
        };
        print(words, form)?;
    }
    let examples: usize = policy.outline().map(|it| it.examples).sum();
    let words = match form {
        Form::Json => {
            json!({"cases": cases.len(), "failed": failed, "examples": examples}).to_string()
        }
        Form::Text => format!(
            "{} of {} cases hold, and {examples} examples of the rules",
            cases.len() - failed,
            cases.len()
        ),
    };
    print(words, form)?;
    if failed == 0 { Ok(()) } else { Err(Exit::Failed) }
}

fn judge(executor: &Executor, policy: &Policy, case: &Case) -> Result<Explanation, ToolError> {
    let executor = match &case.user {
        Some(user) => &executor.on_behalf_of(user),
        None => executor,
    };
    let arguments = case.arguments.as_ref().map_or("{}", |it| it.get());
    executor.explain_by(policy, &Call::new(&case.tool, arguments))
}

impl TriedCase<'_> {
    fn holds(&self) -> bool {
        let Ok(found) = &self.found else { return false };
        let because = found.because();
        ExpectedOutcome::of(&found.verdict) == self.case.expect
            && self.case.because.as_deref().is_none_or(|it| because.contains(&it))
    }

    fn words(&self, file: &str) -> String {
        let Self { line, case: Case { tool, expect, because, .. }, found } = self;
        let place = format!("{file}:{line}: `{tool}`");
        let expected = match because {
            Some(because) => format!("{expect} because of {because}"),
            None => expect.to_string(),
        };
        match found {
            Ok(found) if self.holds() => {
                format!("ok      {place}: {}", describe(found))
            }
            Ok(found) => {
                let why = found.to_string().replace('\n', "\n          ");
                format!(
                    "FAILED  {place}: expected {expected}, found {}\n          {why}",
                    describe(found)
                )
            }
            Err(error) => format!(
                "FAILED  {place}: expected {expected}, and no rule is asked\n          {}",
                for_people(error).replace('\n', "\n          ")
            ),
        }
    }

    fn json(&self) -> String {
        let Self { line, case: Case { tool, expect, because, .. }, found } = self;
        let explained = found
            .as_ref()
            .ok()
            .map(|it| ExplanationLine { explanation: it, because: it.because() });
        let error = found.as_ref().err().map(for_people);
        let line = json!({
            "line": line,
            "tool": tool,
            "holds": self.holds(),
            "expected": {"verdict": expect, "because": because},
            "found": explained,
            "error": error,
        });
        line.to_string()
    }
}

/// Describes the decision and its origin, and the number of rules that may match.
fn describe(found: &Explanation) -> String {
    let may_match = |name: &&str| found.rules.iter().any(|it| &*it.rule == *name && !it.certain);
    let (unsure, sure): (Vec<&str>, Vec<&str>) = found.because().into_iter().partition(may_match);
    let more = match unsure.len() {
        0 => String::new(),
        1 => " and a rule that may match".to_owned(),
        some => format!(" and {some} rules that may match"),
    };
    let sure =
        if sure.is_empty() { String::new() } else { format!(" because of {}", sure.join(", ")) };
    format!("{}{sure}{more}", ExpectedOutcome::of(&found.verdict))
}
