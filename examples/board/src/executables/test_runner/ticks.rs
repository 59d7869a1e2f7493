//! What test runners of Node print: TAP (`node --test`, ava, tape), and the ticks of jest, mocha, vitest and Node's `spec`.

use super::{Case, Reader, Status, Totals};

/// The lines of an `npm test`.
#[derive(Debug, Default)]
pub struct Lines {
    cases: Vec<Case>,
    totals: Option<Totals>,
    /// What follows is said once more.
    repeats: bool,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) {
        let line = line.trim();
        self.repeats |= line.trim_start_matches(['✖', ' ']) == "failing tests:"
            || line.ends_with(" failing")
            || line.starts_with("Summary of all failing tests");
        if let Some((word, count)) = total(line) {
            let totals = self.totals.get_or_insert_default();
            match word {
                "pass" => totals.passed = count,
                "fail" => totals.failed = count,
                _ => totals.skipped += count,
            }
        } else if let Some(case) = tap(line).or_else(|| ticked(line)).filter(|_| !self.repeats) {
            self.cases.push(case);
        }
    }

    fn end(self: Box<Self>) -> (Vec<Case>, Option<Totals>) {
        (self.cases, self.totals)
    }
}

/// The case of a line such as `not ok 2 - adds # SKIP`.
fn tap(line: &str) -> Option<Case> {
    let (rest, is_ok) = match line.strip_prefix("not ok ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("ok ")?, true),
    };
    let name =
        rest.trim_start_matches(|it: char| it.is_ascii_digit()).trim_start_matches([' ', '-']);
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_uppercase();
    let status = match is_ok {
        _ if directive.starts_with("SKIP") || directive.starts_with("TODO") => Status::Skipped,
        true => Status::Passed,
        false => Status::Failed,
    };
    Some(Case { name: name.to_owned(), status, message: None })
}

/// The case of a line such as `✓ adds (3 ms)`.
fn ticked(line: &str) -> Option<Case> {
    let mut letters = line.chars();
    let status = match letters.next()? {
        '✓' | '✔' | '√' => Status::Passed,
        '✕' | '✖' | '✗' | '×' => Status::Failed,
        '○' | '﹣' | '↓' => Status::Skipped,
        _ => return None,
    };
    let name = letters.as_str().trim();
    let name = name
        .rsplit_once(" (")
        .filter(|(_, time)| time.ends_with("ms)") || time.ends_with("s)"))
        .map_or(name, |(it, _)| it);
    Some(Case { name: name.to_owned(), status, message: None })
}

/// The total of a line of Node such as `# pass 3` or `ℹ fail 1`.
fn total(line: &str) -> Option<(&str, usize)> {
    let (word, count) =
        line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?.split_once(' ')?;
    matches!(word, "pass" | "fail" | "skipped" | "todo").then_some((word, count.parse().ok()?))
}
