//! Parses the output of test runners for Node: TAP (`node --test`, ava, tape), and the ticks of jest, mocha, vitest
//! and Node's `spec`. Each prints its totals in another form.

use super::{Case, Reader, Status, Totals, add_case};

/// Parses the lines of `npm test`.
#[derive(Debug, Default)]
pub struct Lines {
    cases: Vec<Case>,
    totals: Option<Totals>,
    /// The names of the groups that contain the present line.
    groups: Vec<String>,
    /// Whether the following lines repeat earlier failures.
    repeats: bool,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) {
        let is_indented = line.starts_with(' ');
        let line = line.trim();
        if let Some(counts) = totals(line) {
            let totals = self.totals.get_or_insert_default();
            for (count, word) in counts {
                add(totals, word, count);
            }
            self.repeats |= line.ends_with(" failing");
        } else if line.trim_start_matches(['✖', ' ']) == "failing tests:"
            || line.starts_with("Summary of all failing tests")
        {
            self.repeats = true;
        } else if line == "type: 'suite'" {
            // The last line was about a group, whose cases are counted one by one, so drop it.
            self.cases.pop();
        } else if let Some(group) = line.strip_prefix("▶ ") {
            self.groups.push(without_time(group).to_owned());
        } else if !self.repeats {
            let numbered = || numbered(line).filter(|_| is_indented);
            let case = tap(line).or_else(|| ticked(line)).or_else(numbered);
            // A line with a tick also closes a group.
            let case = case.filter(|it| self.groups.pop_if(|group| *group == it.name).is_none());
            if let Some(case) = case {
                add_case(&mut self.cases, case);
            }
        }
    }

    fn end(self: Box<Self>) -> (Vec<Case>, Option<Totals>) {
        (self.cases, self.totals)
    }
}

/// Parses a TAP line such as `not ok 2 - adds # SKIP`.
fn tap(line: &str) -> Option<Case> {
    let (rest, is_ok) = match line.strip_prefix("not ok ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("ok ")?, true),
    };
    let name = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let name = name.trim_start_matches([' ', '-']);
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_uppercase();
    let status = match is_ok {
        _ if directive.starts_with("SKIP") || directive.starts_with("TODO") => Status::Skipped,
        true => Status::Passed,
        false => Status::Failed,
    };
    Some(Case { name: name.to_owned(), status, message: None })
}

/// Parses a line such as `✓ adds (3 ms)`; `None` if the line is about a file.
fn ticked(line: &str) -> Option<Case> {
    let mut letters = line.chars();
    let status = match letters.next()? {
        '✓' | '✔' | '√' => Status::Passed,
        '✕' | '✖' | '✗' | '×' => Status::Failed,
        '○' | '﹣' | '↓' => Status::Skipped,
        _ => return None,
    };
    let name = without_time(letters.as_str().trim().trim_end_matches(" # SKIP"));
    let is_file = name.ends_with(" tests)") || name.ends_with(" test)");
    (!is_file).then(|| Case { name: name.to_owned(), status, message: None })
}

/// Parses a line of mocha about a failed case, such as `1) adds`.
fn numbered(line: &str) -> Option<Case> {
    let (number, name) = line.split_once(") ")?;
    number.parse::<u32>().ok()?;
    Some(Case { name: name.to_owned(), status: Status::Failed, message: None })
}

/// Removes the duration, ` (3 ms)` or ` 3ms`, from the end of a name.
fn without_time(name: &str) -> &str {
    let is_time = |it: &str| {
        let number = it.trim_end_matches("ms").trim_end_matches('s').trim_end();
        it.ends_with('s') && number.parse::<f64>().is_ok()
    };
    if let Some((name, time)) = name.strip_suffix(')').and_then(|it| it.rsplit_once(" ("))
        && is_time(time)
    {
        return name;
    }
    name.rsplit_once(' ').filter(|(_, time)| is_time(time)).map_or(name, |(name, _)| name)
}

/// Parses the totals of a line: `# pass 3` and `ℹ fail 1` of Node, `1 passing (3ms)` of mocha, `Tests: 1 failed, 2
/// total` of jest, `Tests  1 failed | 2 passed (3)` of vitest.
fn totals(line: &str) -> Option<Vec<(usize, &str)>> {
    let counted = |(count, word): (&str, &'static str)| Some((count.parse().ok()?, word));
    if let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        let (word, count) = rest.split_once(' ')?;
        let word = ["pass", "fail", "skipped", "todo"].into_iter().find(|it| *it == word)?;
        return counted((count, word)).map(|it| vec![it]);
    }
    if let Some(rest) = line.strip_prefix("Tests") {
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let parts = rest.strip_prefix(' ')?.split([',', '|', '(']);
        return Some(parts.filter_map(|it| part(it.trim())).collect());
    }
    let (count, word) = line.split_once(' ')?;
    let word = word.split(" (").next().unwrap_or_default();
    let word = ["passing", "failing", "pending"].into_iter().find(|it| *it == word)?;
    counted((count, word)).map(|it| vec![it])
}

/// Parses a number and its label, such as `1 failed`.
fn part(text: &str) -> Option<(usize, &str)> {
    let (count, word) = text.split_once(' ')?;
    Some((count.parse().ok()?, word))
}

fn add(totals: &mut Totals, word: &str, count: usize) {
    match word {
        "pass" | "passed" | "passing" => totals.add(Status::Passed, count),
        "fail" | "failed" | "failing" => totals.add(Status::Failed, count),
        "skipped" | "todo" | "pending" => totals.add(Status::Skipped, count),
        _ => {}
    }
}
