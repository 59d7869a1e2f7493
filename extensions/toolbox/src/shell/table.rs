//! What is known of programs, as data: [`CommandTable`].

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use toolwright::Danger;

use super::classify::classify_by;
use super::paths;
use super::safe::{self, Forms};

/// What programs do.
const STANDARD: &str = include_str!("commands.toml");

/// In which forms they only read and print.
const FORMS: &str = include_str!("forms.toml");

/// What is known of programs: how dangerous each is, with which flags and subcommands it does more, what it writes and runs.
///
/// An application adds its own programs, or replaces what is said here of one. Each entry has a reason, and examples that
/// are tried when the table is made. Nothing of a program is safe but the forms in which it is said to only read:
///
/// ```
/// use toolwright::Danger;
/// use toolwright_toolbox::{CommandTable, classify_by};
///
/// let table = CommandTable::standard().clone().with(r#"
///     [[program]]
///     names = ["deploy"]
///     level = "critical"
///     why = "changes what customers see"
///     alone = ["--dry-run"]
///     examples = [{ line = "deploy production", level = "critical" }, { line = "deploy --dry-run", level = "safe" }]
///
///     [[form]]
///     names = ["deploy"]
///     flags = "--dry-run"
///     needs = ["--dry-run"]
/// "#)?;
/// assert_eq!(classify_by("cd web && deploy staging", &table).danger(), Danger::Critical);
/// # Ok::<(), toolwright_toolbox::TableError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CommandTable {
    programs: HashMap<String, Arc<Program>>,
    /// In which forms a program only reads and prints.
    forms: HashMap<String, Arc<Forms>>,
    variables: Vec<Variables>,
}

/// Why a table of programs cannot be used.
#[derive(Clone, PartialEq, Eq)]
pub struct TableError(String);
toolwright::unstable::debug_as_sentence!(TableError);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    #[serde(default)]
    program: Vec<Program>,
    #[serde(default)]
    form: Vec<safe::FormEntry>,
    #[serde(default)]
    variable: Vec<Variables>,
}

/// One program, or several of which the same holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) names: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
    /// Flags with which it does more.
    #[serde(default)]
    pub(super) flags: Vec<FlagRule>,
    /// Flags that take the next argument.
    #[serde(default)]
    pub(super) value_flags: Vec<String>,
    /// Arguments with which alone it only reports.
    #[serde(default)]
    pub(super) alone: Vec<String>,
    #[serde(default)]
    pub(super) subcommands: Vec<Subcommand>,
    /// Its level where it has arguments that are no flags.
    pub(super) arguments: Option<Danger>,
    /// Its level where an argument is not known.
    pub(super) unknown: Option<Danger>,
    /// Which of its arguments are files that it writes.
    pub(super) writes: Option<Files>,
    /// Whether its arguments are files that it reads.
    #[serde(default)]
    pub(super) reads: bool,
    /// Whether it shows the names of those files, and not what is in them.
    #[serde(default)]
    pub(super) only_names: bool,
    /// Flags whose values are files that it writes.
    #[serde(default)]
    pub(super) write_flags: Vec<String>,
    /// Whether it sets the variables that it is given by name: with `-v`, where that takes a value.
    #[serde(default)]
    pub(super) sets: bool,
    /// What it runs.
    pub(super) runs: Option<Runs>,
    /// How many places stand before the command that it runs.
    #[serde(default)]
    pub(super) skip: usize,
    /// Flags behind those places with which a command line follows.
    #[serde(default)]
    pub(super) line_flags: Vec<String>,
    /// Whether `NAME=value` may stand before the command that it runs.
    #[serde(default)]
    pub(super) assigns: bool,
    /// With which first argument it runs nothing.
    #[serde(default)]
    pub(super) asks: Vec<String>,
    /// Whether it adds arguments to the command that it runs.
    #[serde(default)]
    pub(super) appends: bool,
    /// The arguments behind which a command comes.
    #[serde(default)]
    pub(super) markers: Vec<String>,
    /// What of its arguments is looked at by a rule of its own.
    pub(super) check: Option<Check>,
    #[serde(default)]
    examples: Vec<Example>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FlagRule {
    pub(super) flags: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subcommand {
    pub(super) names: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
    #[serde(default)]
    pub(super) flags: Vec<FlagRule>,
    /// Its level where it has arguments that are no flags.
    pub(super) arguments: Option<Danger>,
    /// Flags with which its arguments only select.
    #[serde(default)]
    pub(super) selects: Vec<String>,
    /// Arguments with which it only shows.
    #[serde(default)]
    pub(super) shows: Vec<String>,
    /// Whether its arguments are files that it reads.
    #[serde(default)]
    pub(super) reads: bool,
    /// Flags whose values are files that it writes.
    #[serde(default)]
    pub(super) write_flags: Vec<String>,
    /// Its flags that take the next argument, where they are others than those of the program.
    #[serde(default)]
    pub(super) value_flags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Files {
    All,
    /// The second argument that is no flag, where there is one.
    Second,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Runs {
    /// What follows its flags and places.
    Rest,
    /// A command line after `-c`, a script, or its input.
    Shell,
    /// Its arguments, joined.
    Line,
    /// Its first argument.
    First,
    /// What comes behind a marker.
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Check {
    Sed,
    Awk,
    Mode,
    Remove,
    Kill,
    Upload,
    Dd,
    Date,
    Script,
    Remote,
    Git,
    Find,
    Code,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    line: String,
    level: Danger,
}

/// Environment variables that change what programs do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variables {
    /// With `*` at the end for all that begin so.
    pub(super) names: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
    /// The values with which it has this level; with any other it is dangerous.
    #[serde(default)]
    pub(super) values: Vec<String>,
    /// Whether it has this level only where each part of its value is a folder inside.
    #[serde(default)]
    pub(super) inside: bool,
}

impl Variables {
    /// The level of setting it to a value.
    pub(super) fn with_value(&self, value: Option<&str>) -> (Danger, &str) {
        let is_plain = value.is_some_and(|value| {
            let is_listed = self.values.is_empty() || self.values.iter().any(|it| it == value);
            let is_inside = |it: &str| !it.is_empty() && !paths::is_outside(&paths::join("", it));
            is_listed && (!self.inside || value.split(':').all(is_inside))
        });
        match is_plain || (self.values.is_empty() && !self.inside) {
            true => (self.level, &self.why),
            false => (Danger::Dangerous, "changes which code other programs run"),
        }
    }
}

impl CommandTable {
    /// Returns the table of the toolbox.
    #[must_use]
    pub fn standard() -> &'static Self {
        static TABLE: LazyLock<CommandTable> = LazyLock::new(|| {
            let (mut table, _) =
                CommandTable::read(STANDARD).expect("the table of the toolbox can be read");
            let (forms, _) = CommandTable::read(FORMS).expect("the forms can be read");
            // Both are part of the program, and a test tries their examples.
            table.forms = forms.forms;
            table
        });
        &TABLE
    }

    /// Adds programs and variables, as TOML. What is said of a program takes the place of what was said before.
    ///
    /// # Errors
    /// When it is no such TOML, an entry has no reason or no name, or an example has another level than it says.
    pub fn with(mut self, text: &str) -> Result<Self, TableError> {
        let (more, examples) = Self::read(text)?;
        // What is said of a program takes the place of its forms too.
        self.forms.retain(|name, _| !more.programs.contains_key(name));
        self.programs.extend(more.programs);
        self.forms.extend(more.forms);
        self.variables.extend(more.variables);
        self.try_examples(&examples)?;
        Ok(self)
    }

    fn read(text: &str) -> Result<(Self, Vec<Example>), TableError> {
        let written: TableFile = toml::from_str(text).map_err(|error| {
            TableError(format!("the table of commands cannot be read: {error}"))
        })?;
        let mut table = Self { variables: written.variable, ..Self::default() };
        let mut examples = Vec::new();
        for program in written.program {
            let Some(name) = program.names.first() else {
                return Err(TableError("a program has no name: give it `names`".to_owned()));
            };
            if program.why.trim().is_empty() {
                return Err(TableError(format!("the entry of `{name}` has no reason: say `why`")));
            }
            examples.extend(program.examples.iter().cloned());
            let program = Arc::new(program);
            for name in &program.names {
                table.programs.insert(name.clone(), Arc::clone(&program));
            }
        }
        for form in written.form {
            let forms = Arc::new(Forms::read(&form).map_err(TableError)?);
            for name in form.names {
                if table.forms.insert(name.clone(), Arc::clone(&forms)).is_some() {
                    return Err(TableError(format!("there are two forms of `{name}`")));
                }
            }
        }
        Ok((table, examples))
    }

    fn try_examples(&self, examples: &[Example]) -> Result<(), TableError> {
        for Example { line, level } in examples {
            let found = classify_by(line, self);
            if found.danger() != *level {
                return Err(TableError(format!(
                    "the example `{line}` is {}, expected {}: {found}",
                    found.danger().as_str(),
                    level.as_str()
                )));
            }
        }
        Ok(())
    }

    /// What is known of a program, by its name alone or in a folder.
    pub(super) fn program(&self, written: &str) -> Option<&Program> {
        let name = written.rsplit_once('/').map_or(written, |(_, name)| name);
        self.programs.get(written).or_else(|| self.programs.get(name)).map(Arc::as_ref)
    }

    /// The forms of a program in which it only reads and prints.
    pub(super) fn forms(&self, written: &str) -> Option<&Forms> {
        let name = written.rsplit_once('/').map_or(written, |(_, name)| name);
        self.forms.get(name).map(Arc::as_ref)
    }

    /// Whether no program takes this variable for code or for a place.
    pub(super) fn is_harmless(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|it| it.level == Danger::Safe)
    }

    /// Whether a program is known by its name, and is in a folder that is none of the system's.
    pub(super) fn is_elsewhere(&self, written: &str) -> bool {
        const FOLDERS: [&str; 6] =
            ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
        let folder = written.rsplit_once('/').map(|(folder, _)| folder);
        folder.is_some_and(|it| !FOLDERS.contains(&it)) && !self.programs.contains_key(written)
    }

    /// What is known of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<&Variables> {
        self.variables.iter().rev().find(|it| {
            it.names.iter().any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => known == name,
            })
        })
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_the_standard_table_has_its_level() {
        let (_, examples) = CommandTable::read(STANDARD).unwrap();
        assert!(examples.len() >= 40, "{}", examples.len());
        assert_eq!(CommandTable::standard().try_examples(&examples), Ok(()));
    }

    #[test]
    fn a_wrong_example_an_unknown_key_and_a_missing_reason_are_named() {
        let problem =
            |text: &str| CommandTable::standard().clone().with(text).unwrap_err().to_string();
        let entry = "[[program]]\nnames = [\"frob\"]\nlevel = \"safe\"\n";
        let wrong = format!(
            "{entry}why = \"prints\"\nexamples = [{{ line = \"frob; sudo ls\", level = \"safe\" }}]"
        );
        assert!(
            problem(&wrong).starts_with("the example `frob; sudo ls` is critical, expected safe"),
            "{}",
            problem(&wrong)
        );
        assert!(problem(&format!("{entry}why = \" \"")).contains("`frob` has no reason"));
        assert!(problem(&format!("{entry}why = \"a\"\nlevle = 1")).contains("levle"));
    }
}
