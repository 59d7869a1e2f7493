//! Rates the commands, redirections and assignments of a command line, one after the other.

use std::borrow::Cow;
use std::collections::HashSet;

use toolwright::Danger;

use super::places::{places, subcommand};
use super::{Part, checks};
use crate::shell::commands::{AssignedVariable, Commands, Function, SimpleCommand, Span};
use crate::shell::flags::{is_flag, is_meant, values};
use crate::shell::table::{Check, CommandTable, Files, FlagRule, Program, Runs};
use crate::shell::{paths, safe};

/// Rates the parts of one line.
pub(super) struct Judge<'t> {
    table: &'t CommandTable,
    pub(super) parts: Vec<Part>,
    /// The names, without folders, of the files that the redirections of the line write, and of those that the commands
    /// rated so far write. A file may be run from another folder than the one in which it was written.
    written: HashSet<String>,
    /// Every folder in which the commands may run, whether each `cd` and `pushd` that was rated succeeded or not, ran
    /// in a subshell or was undone. The first is empty: it is the folder in which the line begins.
    bases: Vec<String>,
}

/// The maximum number of folders in which the commands of a line may run. A line with more is dangerous.
const MOST_BASES: usize = 32;

impl<'t> Judge<'t> {
    pub(super) fn new(table: &'t CommandTable) -> Self {
        Self { table, parts: Vec::new(), written: HashSet::new(), bases: vec![String::new()] }
    }

    /// Rates the effects of a line.
    pub(super) fn line(&mut self, commands: &Commands) {
        for unknown in &commands.unknown {
            self.add(Danger::Dangerous, unknown.reason.clone(), &unknown.span);
        }
        for assigned in &commands.assignments {
            self.assignment(assigned);
        }
        for redirected in commands.redirects.iter().filter(|it| it.is_write) {
            self.written.extend(redirected.file.as_deref().map(file_name));
        }
        for command in &commands.commands {
            self.command(command);
        }
        for redirected in &commands.redirects {
            let span = &redirected.span;
            match (&redirected.file, redirected.is_write) {
                (Some(file), true) if paths::is_nothing(file) => {}
                (Some(file), true) => self.judge_write(file, span, Danger::Moderate),
                (Some(file), false) => self.read(file, span),
                (None, true) => {
                    self.add(Danger::Moderate, "writes a file whose name is not known", span);
                }
                (None, false) => {}
            }
        }
    }

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
        self.runs_written(program, &arguments, span);
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

    /// Adds the folders to which a `cd` may lead. After another `cd`, `cd -` leads to a folder that is known; as the first
    /// one, it leads anywhere.
    fn change_folder(&mut self, arguments: &[Option<&str>], span: &Span) {
        let to = arguments.iter().flatten().find(|it| !is_flag(it) && **it != "--").copied();
        if to == Some("-") && self.bases.len() > 1 {
            return;
        }
        let to = to.filter(|it| *it != "-").unwrap_or("~");
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
    fn runs_written(&mut self, program: &str, arguments: &[Option<&str>], span: &Span) {
        if self.written.is_empty() {
            return;
        }
        let is_script =
            self.table.program(program).is_some_and(|it| it.check == Some(Check::Script));
        let scripts = arguments.iter().flatten().filter(|it| is_script && !is_flag(it));
        let runs = scripts.copied().chain(program.contains('/').then_some(program));
        if runs.map(file_name).any(|it| self.written.contains(&it)) {
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
        self.written.insert(file_name(file));
        let ratings = self.bases.iter().filter_map(|base| paths::writing(&paths::join(base, file)));
        match ratings.max_by_key(|(danger, _)| *danger) {
            Some((danger, reason)) => self.add(danger.max(level), reason, span),
            None => self.add(level, format!("writes `{file}`"), span),
        }
    }
}

/// Returns the last part of a path.
fn file_name(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

fn why_arguments<'w>(entry: &'w Program, sub: Option<&'w str>) -> &'w str {
    sub.unwrap_or(&entry.why)
}
