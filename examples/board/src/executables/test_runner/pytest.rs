//! Parses the output of `pytest -rA`: a line for each case, and a last line with the totals.

use super::{Case, Reader, Status, Totals, add_case};

/// Parses the lines of pytest.
#[derive(Debug, Default)]
pub struct Lines {
    cases: Vec<Case>,
    totals: Option<Totals>,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) {
        if let Some(case) = case(line) {
            add_case(&mut self.cases, case);
        } else if let Some(totals) = totals(line) {
            self.totals = Some(totals);
        }
    }

    fn end(self: Box<Self>) -> (Vec<Case>, Option<Totals>) {
        (self.cases, self.totals)
    }
}

/// Parses a line such as `FAILED tests/test_a.py::test_adds - assert 1 == 2`.
fn case(line: &str) -> Option<Case> {
    let (word, rest) = line.split_once(' ')?;
    let status = match word {
        "PASSED" | "XPASS" => Status::Passed,
        "FAILED" | "ERROR" => Status::Failed,
        "SKIPPED" | "XFAIL" => Status::Skipped,
        _ => return None,
    };
    let (name, message) = match status {
        // pytest prints skipped cases as `[1] tests/test_a.py:9: later`, where the number counts the cases.
        Status::Skipped if rest.starts_with('[') => {
            let place = rest.split_once("] ").map_or(rest, |(_, it)| it);
            place.split_once(": ").unwrap_or((place, ""))
        }
        // The parameters of a case may contain ` - ` too, so split only after their closing bracket.
        _ => match rest.split_once("] - ").filter(|(name, _)| name.contains('[')) {
            Some((name, message)) => (&rest[..=name.len()], message),
            None => {
                rest.split_once(" - ").filter(|(it, _)| !it.contains('[')).unwrap_or((rest, ""))
            }
        },
    };
    let message = (!message.is_empty()).then(|| message.to_owned());
    Some(Case { name: name.to_owned(), status, message })
}

/// Parses a line of totals such as `1 failed, 2 passed, 1 skipped in 0.03s`.
fn totals(line: &str) -> Option<Totals> {
    let line = line.trim_matches(['=', ' ']);
    let (counts, time) = line.rsplit_once(" in ")?;
    time.starts_with(|it: char| it.is_ascii_digit()).then_some(())?;
    let mut totals = Totals::default();
    for part in counts.split(", ") {
        let (count, word) = part.split_once(' ')?;
        let count: usize = count.parse().ok()?;
        match word {
            "passed" | "xpassed" => totals.add(Status::Passed, count),
            "failed" | "error" | "errors" => totals.add(Status::Failed, count),
            "skipped" | "xfailed" => totals.add(Status::Skipped, count),
            // Warnings and deselected cases are not counted.
            _ => {}
        }
    }
    Some(totals)
}
