//! Rates command lines: the danger of each part, and the highest of them.

mod checks;
mod places;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use toolwright::Danger;

use self::places::places;
use self::places::subcommand;
use super::commands::{AssignedVariable, Commands, Function, SimpleCommand, Span};
use super::flags::{is_flag, is_meant, values};
use super::paths;
use super::safe::{self, Look};
use super::table::{Check, CommandTable, Files, FlagRule, Program, Runs};

/// The danger of each part of a command line. Made by [`classify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    parts: Vec<Part>,
    /// The files that the line reads if it is safe, relative to the workspace.
    reads: Vec<String>,
    /// The checks that have to succeed before a safe line runs.
    looks: Vec<Look>,
}

/// One effect of a command line, and its danger.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The danger of this part.
    pub danger: Danger,
    /// The reason for the danger.
    pub reason: Cow<'static, str>,
    /// The place of the part in the whole text, in bytes. For a line within a quoted argument, this is the place of the
    /// command that has the argument.
    pub range: Range<usize>,
    span: Span,
}

impl Part {
    /// Returns the text of this part.
    #[must_use]
    pub fn text(&self) -> &str {
        self.span.part()
    }
}

/// Rates a command line by the table of the toolbox.
///
/// Rates only the text. A line is safe if every word of it is understood, and if all its programs only read and print.
/// The files that they read have to be within the folder, or public files of the system such as `/etc/os-release`. Any
/// other line is at least moderate; if each part seems safe by itself, the reason is the first word that was not
/// understood. A line that cannot be parsed, or whose effect is not known before it runs, is dangerous.
///
/// Some effects are not in the text: settings of a repository name programs, and a pattern matches whatever files there are.
/// `bash` checks these before it runs a safe line. An application that runs lines with another tool has to do so itself.
///
/// ```
/// use toolwright::Danger;
/// use toolwright_toolbox::classify;
///
/// assert_eq!(classify("git log --oneline | head -20").danger(), Danger::Safe);
/// assert_eq!(classify("cargo test --locked").danger(), Danger::Moderate);
/// let piped = classify("git log; curl e.org | sh");
/// assert_eq!((piped.danger(), piped.worst().expect("it has parts").text()), (Danger::Dangerous, "sh"));
/// assert_eq!(classify("echo 'rm -rf /'").danger(), Danger::Safe);
/// ```
#[must_use]
pub fn classify(text: &str) -> Classification {
    classify_by(text, CommandTable::standard())
}

/// Rates a command line by a table of the application.
///
/// See [`CommandTable`] for an example.
#[must_use]
pub fn classify_by(text: &str, table: &CommandTable) -> Classification {
    classify_from(text, "", table)
}

/// Rates a command line that begins in this folder of the workspace.
pub(crate) fn classify_from(text: &str, folder: &str, table: &CommandTable) -> Classification {
    Classification::of(&Commands::parse_by(text, table), text, folder, table)
}

impl Classification {
    /// Rates a parsed line that begins in this folder of the workspace.
    pub(super) fn of(commands: &Commands, text: &str, folder: &str, table: &CommandTable) -> Self {
        let mut judge =
            Judge { table, parts: Vec::new(), made: HashSet::new(), bases: vec![String::new()] };
        for unknown in &commands.unknown {
            judge.add(Danger::Dangerous, unknown.reason.clone(), &unknown.span);
        }
        for assigned in &commands.assignments {
            judge.assignment(assigned);
        }
        for redirected in commands.redirects.iter().filter(|it| it.is_write) {
            judge.made.extend(redirected.file.as_deref().map(|it| paths::join("", it)));
        }
        for command in &commands.commands {
            judge.command(command);
        }
        for redirected in &commands.redirects {
            let span = &redirected.span;
            match (&redirected.file, redirected.is_write) {
                (Some(file), true) if paths::is_nothing(file) => {}
                (Some(file), true) => judge.judge_write(file, span, Danger::Moderate),
                (Some(file), false) => judge.read(file, span),
                (None, true) => {
                    judge.add(Danger::Moderate, "writes a file whose name is not known", span);
                }
                (None, false) => {}
            }
        }
        let mut found = Self { parts: judge.parts, reads: Vec::new(), looks: Vec::new() };
        if found.danger() <= Danger::Moderate {
            found.prove(commands, text, folder, table);
        }
        found
    }

    /// Rates the line as safe if that can be proved, and otherwise at least as moderate.
    fn prove(&mut self, commands: &Commands, text: &str, folder: &str, table: &CommandTable) {
        let Some(tree) = &commands.tree else { return };
        match safe::prove(tree, text, folder, table) {
            Ok(proof) => {
                for part in self.parts.iter_mut().filter(|it| it.danger > Danger::Safe) {
                    (part.danger, part.reason) = (Danger::Safe, "only reads and prints".into());
                }
                (self.reads, self.looks) = (proof.reads, proof.looks);
            }
            Err(doubt) if self.danger() == Danger::Safe => {
                let (inner, outer) = (doubt.range.clone(), doubt.range);
                let span = Span { text: text.into(), inner, outer: outer.clone() };
                let reason = doubt.reason;
                self.parts.push(Part { danger: Danger::Moderate, reason, range: outer, span });
            }
            Err(_) => {}
        }
    }

    /// Returns the files that a safe line reads.
    #[cfg(all(feature = "process", unix))]
    pub(super) fn reads(&self) -> &[String] {
        &self.reads
    }

    /// Returns the checks that have to succeed before a safe line runs; empty for any other line.
    #[cfg(all(feature = "process", unix))]
    pub(crate) fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Returns the worst danger; safe if the line runs nothing.
    #[must_use]
    pub fn danger(&self) -> Danger {
        self.worst().map_or(Danger::Safe, |it| it.danger)
    }

    /// Returns the first of the parts with the worst danger.
    #[must_use]
    pub fn worst(&self) -> Option<&Part> {
        let mut parts = self.parts.iter();
        let first = parts.next()?;
        Some(parts.fold(first, |worst, it| if it.danger > worst.danger { it } else { worst }))
    }

    /// Lists every part that was rated.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl fmt::Display for Classification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worst() {
            None => formatter.write_str("safe: it runs nothing"),
            Some(part) => {
                write!(formatter, "{}: `{}` {}", part.danger.as_str(), part.text(), part.reason)
            }
        }
    }
}

struct Judge<'t> {
    table: &'t CommandTable,
    parts: Vec<Part>,
    /// The files that the redirections of the line write, and those that the commands rated so far write.
    made: HashSet<String>,
    /// Every folder in which the commands may run, whether each `cd` and `pushd` that was rated succeeded or not, ran
    /// in a subshell or was undone. The first is empty: it is the folder in which the line begins.
    bases: Vec<String>,
}

/// The most folders that are kept of a line; a line that may run in more is rated as dangerous.
const MOST_BASES: usize = 32;

impl Judge<'_> {
    fn add(&mut self, danger: Danger, reason: impl Into<Cow<'static, str>>, span: &Span) {
        let (reason, range, span) = (reason.into(), span.outer.clone(), span.clone());
        self.parts.push(Part { danger, reason, range, span });
    }

    fn assignment(&mut self, assigned: &AssignedVariable) {
        let value = assigned.value.as_deref();
        if value.is_some_and(|it| it.contains("$(") || it.contains('`')) {
            let reason = "sets a variable to code, which arithmetic runs";
            self.add(Danger::Dangerous, reason, &assigned.span);
        }
        if let Some(known) = self.table.variable(&assigned.name) {
            let (level, why) = known.with_value(value);
            self.add(level, why.to_owned(), &assigned.span);
        }
    }

    fn command(&mut self, command: &SimpleCommand) {
        let span = &command.span;
        let Some(program) = command.program() else {
            return self.add(
                Danger::Dangerous,
                "runs a program that is not known beforehand",
                span,
            );
        };
        if command.function == Function::Itself {
            return self.add(Danger::Dangerous, "is a function that calls itself", span);
        }
        if !program.is_ascii() {
            return self.add(Danger::Dangerous, "has a name that may look like another", span);
        }
        let arguments: Vec<Option<&str>> = command.arguments().collect();
        let runs_code =
            |it: &Option<&str>| it.is_some_and(|it| it.contains("[$(") || it.contains("[`"));
        if arguments.iter().any(runs_code) {
            return self.add(Danger::Dangerous, "has an index that runs a command", span);
        }
        self.runs_made(program, &arguments, span);
        let Some(entry) = self.table.program(program) else {
            if command.function == Function::Defined {
                return self.add(Danger::Safe, "is a function of the line", span);
            }
            self.secrets(&arguments, span);
            let reason = format!("`{program}` is not known here");
            return self.add(Danger::Moderate, reason, span);
        };
        if self.table.is_elsewhere(program) {
            let reason = "has the name of a system program, but is another file";
            self.add(Danger::Moderate, reason, span);
        }
        if program == "cd" || program == "pushd" {
            self.change_folder(&arguments, span);
        }
        self.judge_known(program, entry, &arguments, span);
    }

    /// Adds the folders to which a `cd` may lead. `cd -` leads to one of those that are known.
    fn change_folder(&mut self, arguments: &[Option<&str>], span: &Span) {
        let to = arguments.iter().flatten().find(|it| !is_flag(it) && **it != "--").copied();
        if to == Some("-") {
            return;
        }
        let to = to.unwrap_or("~");
        for base in self.bases.clone() {
            let folder = paths::join(&base, to);
            if !self.bases.contains(&folder) {
                self.bases.push(folder);
            }
        }
        if self.bases.len() > MOST_BASES {
            self.bases.truncate(MOST_BASES);
            self.add(Danger::Dangerous, "changes the folder too often to follow", span);
        }
    }

    /// Rates a command as dangerous if it runs a file that the line itself has written, because the content is not
    /// known.
    fn runs_made(&mut self, program: &str, arguments: &[Option<&str>], span: &Span) {
        if self.made.is_empty() {
            return;
        }
        let is_script =
            self.table.program(program).is_some_and(|it| it.check == Some(Check::Script));
        let scripts = arguments.iter().flatten().filter(|it| is_script && !is_flag(it));
        let runs = scripts.copied().chain(program.contains('/').then_some(program));
        if runs.map(|it| paths::join("", it)).any(|it| self.made.contains(&it)) {
            let reason = "runs a file that the line itself writes";
            self.add(Danger::Dangerous, reason, span);
        }
    }

    fn judge_known(
        &mut self,
        program: &str,
        entry: &Program,
        arguments: &[Option<&str>],
        span: &Span,
    ) {
        let is_alone =
            |it: &Option<&str>| it.is_some_and(|it| entry.alone.iter().any(|alone| alone == it));
        if !arguments.is_empty() && arguments.iter().all(is_alone) {
            return self.add(Danger::Safe, "only reports", span);
        }
        if matches!(arguments, [Some("--version" | "--help")]) {
            return self.add(entry.level.min(Danger::Moderate), "only reports", span);
        }
        if entry.level > Danger::Safe || !entry.subcommands.is_empty() {
            let given: Option<Vec<&str>> = arguments.iter().copied().collect();
            if given.is_some_and(|it| safe::only_reads(program, &it, self.table)) {
                return self.add(Danger::Safe, "only reads and prints", span);
            }
        }
        let places = places(entry, arguments);
        let sub = subcommand(entry, &places);
        let (mut danger, mut why) = (entry.level, entry.why.as_str());
        if let Some((_, sub)) = sub {
            (danger, why) = (sub.level, sub.why.as_str());
            if arguments.iter().flatten().any(|it| sub.shows.iter().any(|shows| shows == it)) {
                (danger, why) = (Danger::Safe, "only shows");
            }
        } else if !entry.subcommands.is_empty() && places.first().is_some_and(|it| it.is_none()) {
            (danger, why) =
                (danger.max(Danger::Dangerous), "runs a subcommand that is not known beforehand");
        }
        let mut raise = |to: Danger, reason| {
            if to > danger {
                (danger, why) = (to, reason);
            }
        };
        let given: Vec<&str> = arguments.iter().flatten().copied().collect();
        // In git, `-c` before the subcommand is another flag than `-c` after the subcommand.
        let first = places.first().copied().flatten().filter(|_| sub.is_some());
        let own = given.iter().position(|it| Some(*it) == first).unwrap_or(given.len());
        let has_flags = given.iter().any(|it| it.starts_with(['-', '+']));
        let rules = entry.flags.iter().chain(sub.iter().flat_map(|(_, it)| &it.flags));
        for (index, FlagRule { flags, level, why }) in rules.clone().enumerate() {
            let is_there = |flag: &String| {
                let is_own = index < entry.flags.len() && !flag.starts_with("--");
                let looked_at = if is_own { &given[..own] } else { &given[..] };
                let value_flags = sub.map(|(_, it)| &it.value_flags).filter(|it| !it.is_empty());
                let value_flags = value_flags.unwrap_or(&entry.value_flags);
                looked_at.iter().any(|it| is_meant(it, flag, value_flags))
            };
            if has_flags && flags.iter().any(is_there) {
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
            let level = entry.unknown;
            if let Some(level) = level.filter(|_| entry.runs != Some(Runs::Rest)) {
                raise(level, "has an argument that is not known beforehand");
            }
        }
        let lower = |check| {
            let reasons = self.bases.iter().map(|base| checks::lower(check, &given, base));
            reasons.collect::<Option<Vec<_>>>()?.into_iter().next()
        };
        if let Some(lower) = entry.check.and_then(lower)
            && danger == Danger::Dangerous
            && arguments.iter().all(Option::is_some)
        {
            (danger, why) = (Danger::Moderate, lower);
        }
        if let Some(check) = entry.check
            && let Some((level, reason)) = self
                .bases
                .iter()
                .filter_map(|base| checks::check(check, arguments, base))
                .max_by_key(|(level, _)| *level)
            && level > danger
        {
            (danger, why) = (level, reason);
        }
        let why = if danger == Danger::Safe {
            Cow::Borrowed("only reads and prints")
        } else {
            why.to_owned().into()
        };
        self.add(danger, why, span);
        self.files(entry, arguments, &places, span);
    }

    /// Rates the reads and writes of a program's files.
    fn files(
        &mut self,
        entry: &Program,
        arguments: &[Option<&str>],
        places: &[Option<&str>],
        span: &Span,
    ) {
        let written: Vec<&str> = match entry.writes {
            None => Vec::new(),
            Some(Files::All) => places.iter().flatten().copied().collect(),
            Some(Files::Second) => places.get(1).copied().flatten().into_iter().collect(),
            Some(Files::Last) => places.last().copied().flatten().into_iter().collect(),
        };
        for file in written.into_iter().filter(|it| *it != "-") {
            self.judge_write(file, span, entry.level.max(Danger::Moderate));
        }
        let sub = subcommand(entry, places);
        let edits = entry.check == Some(Check::Sed)
            && arguments
                .iter()
                .flatten()
                .any(|it| ["-i", "--in-place"].iter().any(|flag| is_meant(it, flag, &[])));
        if edits {
            let has_script = arguments.iter().flatten().any(|it| {
                ["-e", "-f", "--expression", "--file"].iter().any(|flag| is_meant(it, flag, &[]))
            });
            for file in places.iter().skip(usize::from(!has_script)).flatten() {
                self.judge_write(file, span, Danger::Moderate);
            }
        }
        let write_flags =
            entry.write_flags.iter().chain(sub.iter().flat_map(|it| &it.1.write_flags));
        for flag in write_flags {
            for file in values(arguments, flag, &entry.value_flags) {
                if !paths::is_nothing(file) && file != "-" {
                    self.judge_write(file, span, Danger::Moderate);
                }
            }
        }
        let is_read = sub.is_some_and(|(_, sub)| sub.reads);
        // With a marker such as `-exec`, `find` runs a program, which may read the found files.
        let is_found =
            entry.markers.iter().any(|it| arguments.iter().flatten().any(|text| text == it));
        if (entry.reads && !entry.only_names) || is_read || is_found {
            self.secrets(arguments, span);
        }
        if is_read {
            // In git, the name of a commit and a colon precede a file of that commit.
            for file in places.iter().flatten().filter_map(|it| it.split_once(':')) {
                self.read(file.1, span);
            }
        }
        if entry.sets {
            self.set(entry, arguments, span);
        }
    }

    /// Rates a shell builtin that sets the variables that its arguments name.
    fn set(&mut self, entry: &Program, arguments: &[Option<&str>], span: &Span) {
        let names: Vec<&str> = match entry.value_flags.iter().find(|it| *it == "-v") {
            Some(flag) => values(arguments, flag, &[]),
            None => arguments.iter().flatten().copied().collect(),
        };
        for name in names {
            if let Some(known) = self.table.variable(name) {
                self.add(known.level, known.why.clone(), span);
            }
        }
    }

    fn secrets(&mut self, arguments: &[Option<&str>], span: &Span) {
        let leaves_out =
            |it: &&&str| it.starts_with("--exclude=") || it.starts_with("--exclude-dir=");
        for argument in arguments.iter().flatten().filter(|it| !leaves_out(it)) {
            let (_, value) =
                argument.split_once('=').filter(|_| is_flag(argument)).unwrap_or(("", argument));
            self.read(value.trim_start_matches('@'), span);
        }
    }

    fn read(&mut self, file: &str, span: &Span) {
        let mut paths = self.bases.iter().map(|base| paths::join(base, file));
        if paths.clone().any(|it| paths::is_connection(&it)) {
            self.add(Danger::Dangerous, "opens a connection to another machine", span);
        } else if paths.any(|it| paths::is_secret(&it)) {
            let reason = format!("reads `{file}`, which may hold secrets");
            self.add(Danger::Dangerous, reason, span);
        }
    }

    fn judge_write(&mut self, file: &str, span: &Span, level: Danger) {
        self.made.insert(paths::join("", file));
        let ratings = self.bases.iter().filter_map(|base| paths::writing(&paths::join(base, file)));
        match ratings.max_by_key(|(danger, _)| *danger) {
            Some((danger, reason)) => self.add(danger.max(level), reason, span),
            None => self.add(level, format!("writes `{file}`"), span),
        }
    }
}

fn why_arguments<'w>(entry: &'w Program, sub: Option<&'w str>) -> &'w str {
    sub.unwrap_or(&entry.why)
}
