//! The known programs and their dangers, as data: [`CommandTable`].

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use toolwright::Danger;

use super::classify::classify_by;
use super::paths;
use super::safe::{self, Forms};

/// The standard table of programs and their dangers.
const STANDARD: &str = include_str!("commands.toml");

/// The standard forms in which programs only read and print.
const FORMS: &str = include_str!("forms.toml");

/// A table of known programs: how dangerous each is, with which flags and subcommands it does more, and what it writes
/// and runs.
///
/// An application adds its own programs, or replaces an entry. Each entry has a reason. Its examples are checked when
/// the table is made. A program is safe only in the forms that are declared to only read:
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
    /// The forms in which each program only reads and prints.
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

/// One program, or several with the same properties.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) names: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
    /// The flags with which the program is more dangerous.
    #[serde(default)]
    pub(super) flags: Vec<FlagRule>,
    /// The flags that take the next argument as their value.
    #[serde(default)]
    pub(super) value_flags: Vec<String>,
    /// Complete argument lists with which the program only reports.
    #[serde(default)]
    pub(super) alone: Vec<String>,
    #[serde(default)]
    pub(super) subcommands: Vec<Subcommand>,
    /// The danger of the program if it has positional arguments.
    pub(super) arguments: Option<Danger>,
    /// The danger of the program if an argument is unknown.
    pub(super) unknown: Option<Danger>,
    /// The arguments that name files which the program writes.
    pub(super) writes: Option<Files>,
    /// Whether the arguments name files that the program reads.
    #[serde(default)]
    pub(super) reads: bool,
    /// Whether the program shows only the names of the files, and not their contents.
    #[serde(default)]
    pub(super) only_names: bool,
    /// The flags whose values name files which the program writes.
    #[serde(default)]
    pub(super) write_flags: Vec<String>,
    /// Whether the program sets the variables that its arguments name. If it has a flag `-v` with a value, it sets only
    /// the variable in that value.
    #[serde(default)]
    pub(super) sets: bool,
    /// The part of the arguments that the program runs as a command.
    pub(super) runs: Option<Runs>,
    /// How many positional arguments precede the command that the program runs.
    #[serde(default)]
    pub(super) skip: usize,
    /// The flags whose value is a command line. They come after the positional arguments that `skip` counts.
    #[serde(default)]
    pub(super) line_flags: Vec<String>,
    /// Whether `NAME=value` may precede the command that the program runs.
    #[serde(default)]
    pub(super) assigns: bool,
    /// The first arguments with which the program runs no command.
    #[serde(default)]
    pub(super) asks: Vec<String>,
    /// Whether the program adds arguments to the command that it runs.
    #[serde(default)]
    pub(super) appends: bool,
    /// The arguments after which a command begins, such as `-exec` of `find`.
    #[serde(default)]
    pub(super) markers: Vec<String>,
    /// A special check of the arguments.
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
    /// The danger of the subcommand if it has positional arguments.
    pub(super) arguments: Option<Danger>,
    /// The flags with which the arguments only select the output.
    #[serde(default)]
    pub(super) selects: Vec<String>,
    /// The arguments with which the subcommand only shows something.
    #[serde(default)]
    pub(super) shows: Vec<String>,
    /// Whether the arguments name files that the subcommand reads.
    #[serde(default)]
    pub(super) reads: bool,
    /// The flags whose values name files which the subcommand writes.
    #[serde(default)]
    pub(super) write_flags: Vec<String>,
    /// The flags that take the next argument as their value, if they differ from those of the program.
    #[serde(default)]
    pub(super) value_flags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Files {
    All,
    /// The second positional argument, if there is one.
    Second,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Runs {
    /// The program runs the words after its flags and positional arguments.
    Rest,
    /// The program runs a command line after `-c`, a script, or its standard input.
    Shell,
    /// The program runs its joined arguments as a command line.
    Line,
    /// The program runs its first argument as a command line.
    First,
    /// The program runs the words after a marker.
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

/// Environment variables that change the behaviour of programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variables {
    /// The names of the variables. A `*` at the end matches all names with this prefix.
    pub(super) names: Vec<String>,
    pub(super) level: Danger,
    pub(super) why: String,
    /// The values to which the level of this entry applies. Any other value is dangerous. If the list is empty, the
    /// level applies to every value.
    #[serde(default)]
    pub(super) values: Vec<String>,
    /// Whether each part of the value has to be a folder in the workspace. Any other value is dangerous.
    #[serde(default)]
    pub(super) inside: bool,
}

impl Variables {
    /// Returns the danger of setting the variable to a value, and the reason.
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
            // Both files are compiled in, and a test checks their examples.
            table.forms = forms.forms;
            table
        });
        &TABLE
    }

    /// Adds programs, forms and variables, as TOML. An entry replaces an earlier one of the same program.
    ///
    /// # Errors
    /// When the text is not TOML of this form, an entry has no reason or no name, a form names an unknown type or
    /// occurs twice, or an example has another level than stated.
    pub fn with(mut self, text: &str) -> Result<Self, TableError> {
        let (more, examples) = Self::read(text)?;
        // A new entry of a program also replaces its forms.
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

    /// Returns the entry of a program, which is written as a name or as a path.
    pub(super) fn program(&self, written: &str) -> Option<&Program> {
        let name = written.rsplit_once('/').map_or(written, |(_, name)| name);
        self.programs.get(written).or_else(|| self.programs.get(name)).map(Arc::as_ref)
    }

    /// Returns the forms in which a program only reads and prints.
    pub(super) fn forms(&self, written: &str) -> Option<&Forms> {
        let name = written.rsplit_once('/').map_or(written, |(_, name)| name);
        self.forms.get(name).map(Arc::as_ref)
    }

    /// Returns whether the table rates the variable as safe: no program uses its value as code or as a path.
    pub(super) fn is_harmless(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|it| it.level == Danger::Safe)
    }

    /// Returns whether a program is written as a path outside of the folders with the system's programs, unless the
    /// table has an entry for the path itself.
    pub(super) fn is_elsewhere(&self, written: &str) -> bool {
        const FOLDERS: [&str; 6] =
            ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
        let folder = written.rsplit_once('/').map(|(folder, _)| folder);
        folder.is_some_and(|it| !FOLDERS.contains(&it)) && !self.programs.contains_key(written)
    }

    /// Returns the entry of an environment variable.
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
