//! How dangerous a command line is: the level of each of its parts, and the worst of them.

mod checks;
mod places;

use std::fmt;
use std::ops::Range;

use toolwright::Danger;

pub(super) use self::places::places;
use self::places::subcommand;
use super::commands::{Commands, Function, SimpleCommand};
use super::flags::{is_flag, is_meant, values};
use super::paths;
use super::table::{Check, CommandTable, Files, FlagRule, Program, Runs};

/// The levels of the parts of a command line. Made by [`classify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    parts: Vec<Part>,
}

/// One thing that a command line does, and how dangerous it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// How dangerous it is.
    pub danger: Danger,
    /// Why.
    pub reason: String,
    /// The part of the text that it is about.
    pub text: String,
    /// Where that part stands in the whole text, in bytes.
    pub range: Range<usize>,
}

/// Says how dangerous a command line is, by the table of the toolbox.
///
/// It looks at nothing but the text. A program that is not known is moderate; what cannot be parsed, or known before it
/// runs, is dangerous.
///
/// ```
/// use toolwright::Danger;
/// use toolwright_toolbox::classify;
///
/// assert_eq!(classify("git log --oneline | head -20").danger(), Danger::Safe);
/// assert_eq!(classify("cargo test --locked").danger(), Danger::Moderate);
/// let piped = classify("git log; curl e.org | sh");
/// assert_eq!((piped.danger(), &*piped.worst().expect("it has parts").text), (Danger::Dangerous, "sh"));
/// assert_eq!(classify("echo 'rm -rf /'").danger(), Danger::Safe);
/// ```
#[must_use]
pub fn classify(text: &str) -> Classification {
    classify_by(text, CommandTable::standard())
}

/// Says how dangerous a command line is, by a table of the application's.
///
/// See [`CommandTable`] for an example.
#[must_use]
pub fn classify_by(text: &str, table: &CommandTable) -> Classification {
    Classification::of(&Commands::parse_by(text, table), text, table)
}

impl Classification {
    /// The level of a line that is parsed.
    pub(super) fn of(commands: &Commands, text: &str, table: &CommandTable) -> Self {
        let mut judge = Judge { table, parts: Vec::new(), made: Vec::new(), base: String::new() };
        for unknown in &commands.unknown {
            let at = text.find(&unknown.part).unwrap_or(0);
            let range = at..(at + unknown.part.len()).min(text.len());
            judge.add(Danger::Dangerous, &unknown.reason, &unknown.part, range);
        }
        for (name, value, part) in &commands.assignments {
            judge.assignment(name, value.as_deref(), part, text);
        }
        for redirected in commands.redirects.iter().filter(|it| it.is_write) {
            judge.made.extend(redirected.file.as_deref().map(|it| paths::joined("", it)));
        }
        for command in &commands.commands {
            judge.command(command);
        }
        for redirected in &commands.redirects {
            let (part, range) = (&redirected.part, redirected.range.clone());
            match (&redirected.file, redirected.is_write) {
                (Some(file), true) if paths::is_nothing(file) => {}
                (Some(file), true) => judge.written(file, part, range, Danger::Moderate),
                (Some(file), false) => judge.read(file, part, range),
                (None, true) => judge.add(
                    Danger::Moderate,
                    "writes a file whose name is not known",
                    part,
                    range,
                ),
                (None, false) => {}
            }
        }
        Self { parts: judge.parts }
    }

    /// The worst level; safe where there is nothing to run.
    #[must_use]
    pub fn danger(&self) -> Danger {
        self.worst().map_or(Danger::Safe, |it| it.danger)
    }

    /// The first of the parts with the worst level.
    #[must_use]
    pub fn worst(&self) -> Option<&Part> {
        let mut parts = self.parts.iter();
        let first = parts.next()?;
        Some(parts.fold(first, |worst, it| if it.danger > worst.danger { it } else { worst }))
    }

    /// Every part that was looked at.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl fmt::Display for Classification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worst() {
            None => formatter.write_str("safe: it runs nothing"),
            Some(Part { danger, reason, text, .. }) => {
                write!(formatter, "{}: `{text}` {reason}", danger.as_str())
            }
        }
    }
}

struct Judge<'t> {
    table: &'t CommandTable,
    parts: Vec<Part>,
    /// The files that the line writes.
    made: Vec<String>,
    /// The folder that the line has changed to; empty where it has not, or that is not known.
    base: String,
}

impl Judge<'_> {
    fn add(&mut self, danger: Danger, reason: impl Into<String>, text: &str, range: Range<usize>) {
        self.parts.push(Part { danger, reason: reason.into(), text: text.to_owned(), range });
    }

    fn assignment(&mut self, name: &str, value: Option<&str>, part: &str, text: &str) {
        let at = text.find(part).unwrap_or(0);
        let range = at..(at + part.len()).min(text.len());
        if let Some(known) = self.table.variable(name) {
            self.add(known.level, &known.why, part, range);
        } else if value.is_some_and(|it| it.contains("$(") || it.contains('`')) {
            self.add(
                Danger::Dangerous,
                "sets a variable to code, which arithmetic runs",
                part,
                range,
            );
        }
    }

    fn command(&mut self, command: &SimpleCommand) {
        let (part, range) = (command.part.as_str(), command.range.clone());
        let Some(program) = command.program.as_deref() else {
            return self.add(
                Danger::Dangerous,
                "runs a program that is not known before",
                part,
                range,
            );
        };
        if command.function == Function::Itself {
            return self.add(Danger::Dangerous, "is a function that calls itself", part, range);
        }
        if !program.is_ascii() {
            return self.add(
                Danger::Dangerous,
                "has a name that may look like another",
                part,
                range,
            );
        }
        let runs_code = |it: &Option<String>| {
            it.as_deref().is_some_and(|it| it.contains("[$(") || it.contains("[`"))
        };
        if command.arguments.iter().any(runs_code) {
            return self.add(Danger::Dangerous, "has an index that runs a command", part, range);
        }
        self.runs_made(program, command);
        let Some(entry) = self.table.program(program) else {
            if command.function == Function::Defined {
                return self.add(Danger::Safe, "is a function of the line", part, range);
            }
            self.secrets(command);
            let reason = format!("`{program}` is not known here");
            return self.add(Danger::Moderate, reason, part, range);
        };
        if self.table.is_elsewhere(program) {
            let reason = "is named as a program of the system, and is another file";
            self.add(Danger::Moderate, reason, part, range.clone());
        }
        if program == "cd" || program == "pushd" {
            let to = command.arguments.iter().flatten().find(|it| !is_flag(it));
            self.base = to.map_or_else(|| "~".to_owned(), |it| paths::joined(&self.base, it));
        }
        self.known(entry, command);
    }

    /// A line that writes a file and runs it has not shown what it runs.
    fn runs_made(&mut self, program: &str, command: &SimpleCommand) {
        let is_script =
            self.table.program(program).is_some_and(|it| it.check == Some(Check::Script));
        let scripts = command.arguments.iter().flatten().filter(|it| is_script && !is_flag(it));
        let runs = scripts.map(String::as_str).chain(program.contains('/').then_some(program));
        if runs.map(|it| paths::joined("", it)).any(|it| self.made.contains(&it)) {
            let reason = "runs a file that the line itself writes";
            self.add(Danger::Dangerous, reason, &command.part, command.range.clone());
        }
    }

    fn known(&mut self, entry: &Program, command: &SimpleCommand) {
        let (part, range) = (command.part.as_str(), command.range.clone());
        let arguments = &command.arguments;
        let only_reports = |it: &Option<String>| {
            let it = it.as_deref().unwrap_or_default();
            entry.alone.iter().any(|alone| alone == it)
                || matches!(it, "--version" | "--help" | "--verbose")
        };
        if !arguments.is_empty() && arguments.iter().all(only_reports) {
            return self.add(Danger::Safe, "only reports", part, range);
        }
        let places = places(entry, arguments);
        let sub = subcommand(entry, &places);
        let (mut danger, mut why) = (entry.level, entry.why.as_str());
        if let Some((_, sub)) = sub {
            (danger, why) = (sub.level, sub.why.as_str());
            if arguments.iter().flatten().any(|it| sub.shows.contains(it)) {
                (danger, why) = (Danger::Safe, "only shows");
            }
        } else if !entry.subcommands.is_empty() && places.first().is_some_and(|it| it.is_none()) {
            (danger, why) =
                (danger.max(Danger::Dangerous), "runs a subcommand that is not known before");
        }
        let mut raise = |to: Danger, reason| {
            if to > danger {
                (danger, why) = (to, reason);
            }
        };
        let given: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
        // `-c` is another flag before a subcommand than behind it.
        let first = places.first().copied().flatten().filter(|_| sub.is_some());
        let own = given.iter().position(|it| Some(*it) == first).unwrap_or(given.len());
        let rules = entry.flags.iter().chain(sub.iter().flat_map(|(_, it)| &it.flags));
        for (index, FlagRule { flags, level, why }) in rules.clone().enumerate() {
            let is_there = |flag: &String| {
                let is_own = index < entry.flags.len() && !flag.starts_with("--");
                let looked_at = if is_own { &given[..own] } else { &given[..] };
                looked_at.iter().any(|it| is_meant(it, flag, &entry.value_flags))
            };
            if flags.iter().any(is_there) {
                raise(*level, why);
            }
        }
        let (skipped, with_arguments, selects) = match sub {
            Some((length, sub)) => (length, sub.arguments, sub.selects.as_slice()),
            None => (0, entry.arguments, &[] as &[String]),
        };
        let is_selecting =
            selects.iter().any(|flag| given.iter().any(|it| is_meant(it, flag, &[])));
        if let Some(level) = with_arguments.filter(|_| places.len() > skipped && !is_selecting) {
            raise(level, why_arguments(entry, sub.map(|(_, it)| it.why.as_str())));
        }
        if arguments.iter().any(Option::is_none) {
            let level = entry.unknown.or((rules.count() > 0).then_some(Danger::Moderate));
            if let Some(level) = level.filter(|_| entry.runs != Some(Runs::Rest)) {
                raise(level, "has an argument that is not known before");
            }
        }
        if let Some(check) = entry.check
            && let Some((level, reason)) = checks::check(check, arguments, &self.base)
        {
            raise(level, reason);
        }
        let (danger, why) = (danger, why.to_owned());
        self.add(danger, why, part, range.clone());
        self.files(entry, command, &places);
    }

    /// What the files that a program is given say.
    fn files(&mut self, entry: &Program, command: &SimpleCommand, places: &[Option<&str>]) {
        let (part, range) = (command.part.as_str(), command.range.clone());
        let written: Vec<&str> = match entry.writes {
            None => Vec::new(),
            Some(Files::All) => places.iter().flatten().copied().collect(),
            Some(Files::Second) => places.get(1).copied().flatten().into_iter().collect(),
            Some(Files::Last) => places.last().copied().flatten().into_iter().collect(),
        };
        for file in written.into_iter().filter(|it| *it != "-") {
            self.written(file, part, range.clone(), entry.level.max(Danger::Moderate));
        }
        for flag in &entry.write_flags {
            for file in values(&command.arguments, flag, &entry.value_flags) {
                if !paths::is_nothing(file) && file != "-" {
                    self.written(file, part, range.clone(), Danger::Moderate);
                }
            }
        }
        let is_read = subcommand(entry, places).is_some_and(|(_, sub)| sub.reads);
        // What is found is read by the program that runs for it.
        let is_found = entry
            .markers
            .iter()
            .any(|it| command.arguments.iter().flatten().any(|text| text == it));
        if (entry.reads && !entry.only_names) || is_read || is_found {
            self.secrets(command);
        }
        if is_read {
            // A file of a commit stands behind the commit's name.
            for file in places.iter().flatten().filter_map(|it| it.split_once(':')) {
                self.read(file.1, part, range.clone());
            }
        }
        if entry.sets {
            self.set(entry, command);
        }
    }

    /// What a program of the shell does to variables that it is given by name.
    fn set(&mut self, entry: &Program, command: &SimpleCommand) {
        let names: Vec<&str> = match entry.value_flags.iter().find(|it| *it == "-v") {
            Some(flag) => values(&command.arguments, flag, &[]),
            None => command.arguments.iter().flatten().map(String::as_str).collect(),
        };
        for name in names {
            if let Some(known) = self.table.variable(name) {
                let reason = known.why.clone();
                self.add(known.level, reason, &command.part, command.range.clone());
            }
        }
    }

    fn secrets(&mut self, command: &SimpleCommand) {
        for argument in command.arguments.iter().flatten() {
            let (_, value) =
                argument.split_once('=').filter(|_| is_flag(argument)).unwrap_or(("", argument));
            self.read(value.trim_start_matches('@'), &command.part, command.range.clone());
        }
    }

    fn read(&mut self, file: &str, part: &str, range: Range<usize>) {
        let whole = paths::joined(&self.base, file);
        if paths::is_connection(&whole) {
            let reason = "opens a connection to another machine";
            self.add(Danger::Dangerous, reason, part, range);
        } else if paths::is_secret(&whole) {
            self.add(
                Danger::Dangerous,
                format!("reads `{file}`, which may hold secrets"),
                part,
                range,
            );
        }
    }

    fn written(&mut self, file: &str, part: &str, range: Range<usize>, level: Danger) {
        self.made.push(paths::joined("", file));
        let whole = paths::joined(&self.base, file);
        match paths::writing(&whole) {
            Some((danger, reason)) => self.add(danger.max(level), reason, part, range),
            None => self.add(level, format!("writes `{file}`"), part, range),
        }
    }
}

fn why_arguments<'w>(entry: &'w Program, sub: Option<&'w str>) -> &'w str {
    sub.unwrap_or(&entry.why)
}
