//! Parses the output of `cargo test`.

use super::{Case, MOST_HELD, Reader, Status, Totals, add_case};

/// Parses the lines of all test programs of one `cargo test`.
#[derive(Debug, Default)]
pub struct Lines {
    cases: Vec<Case>,
    totals: Option<Totals>,
    /// The name of the test program that runs now.
    program: String,
    /// The name of the failed case whose output follows.
    failed: Option<String>,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) {
        if let Some(program) = program(line) {
            (self.program, self.failed) = (program, None);
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|it| it.strip_suffix(" stdout ----"))
        {
            self.failed = Some(self.named(name));
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.failed = None;
            let totals = self.totals.get_or_insert_default();
            for (count, word) in result.split(['.', ';']).filter_map(|it| it.trim().split_once(' '))
            {
                let count = count.parse().unwrap_or(0);
                match word {
                    "passed" => totals.add(Status::Passed, count),
                    "failed" => totals.add(Status::Failed, count),
                    "ignored" => totals.add(Status::Skipped, count),
                    _ => {}
                }
            }
        } else if line == "failures:" {
            self.failed = None;
        } else if let Some(failed) = &self.failed {
            let case = self.cases.iter_mut().find(|it| it.name == *failed);
            if let Some(case) = case.filter(|_| !line.is_empty()) {
                let message = case.message.get_or_insert_default();
                if message.len() > MOST_HELD {
                    return;
                }
                message.push_str(if message.is_empty() { "" } else { "\n" });
                message.push_str(line);
            }
        } else if let Some((name, status)) = case(line) {
            let name = self.named(name);
            add_case(&mut self.cases, Case { name, status, message: None });
        }
    }

    fn end(self: Box<Self>) -> (Vec<Case>, Option<Totals>) {
        (self.cases, self.totals)
    }
}

impl Lines {
    /// Puts the program's name before the case's, since tests of two programs may have the same name.
    fn named(&self, name: &str) -> String {
        format!("{}: {name}", self.program)
    }
}

/// Returns the name of the test program in a line such as `     Running unittests src/lib.rs
/// (target/debug/deps/strsim-1)`.
fn program(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc-tests {name}"));
    }
    let (name, _) = line.strip_prefix("Running ")?.rsplit_once(" (")?;
    Some(name.trim_start_matches("unittests ").to_owned())
}

/// Parses name and status of a case in a line such as `test tests::adds ... ok`.
fn case(line: &str) -> Option<(&str, Status)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let status = match end {
        "ok" => Status::Passed,
        "FAILED" => Status::Failed,
        _ if end.starts_with("ignored") => Status::Skipped,
        _ => return None,
    };
    Some((name.strip_suffix(" - should panic").unwrap_or(name), status))
}
