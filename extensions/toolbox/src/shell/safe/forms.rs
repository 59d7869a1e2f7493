//! The forms in which a program only reads and prints: every known flag, and the type of its value.

use std::collections::HashMap;

use serde::Deserialize;

use super::looks::{Settings, Walk};

/// The forms of one program, as written in the table.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct FormEntry {
    pub(in crate::shell) names: Vec<String>,
    /// The flags, each written as `-n,--lines:text`. See [`Takes`] for the types.
    #[serde(default)]
    flags: String,
    /// The types of the positional arguments, such as `script file*`. Empty if the program takes none.
    #[serde(default)]
    places: String,
    /// Groups of flags. The command has to have one flag of each group.
    #[serde(default)]
    needs: Vec<String>,
    /// A group of flags. If the command has positional arguments, it has to have one flag of the group.
    #[serde(default)]
    places_with: String,
    /// The settings to be checked before the program runs, because they may name programs that it would run.
    look: Option<Settings>,
    /// The way to list all files that the program reads below a folder.
    walk: Option<Walk>,
    /// The flags with which the program reads all files below a folder. If the list is empty, the program always does
    /// so.
    #[serde(default)]
    recursive: String,
    /// The flags that exclude files from those that the program reads.
    #[serde(default)]
    skips: String,
    #[serde(default)]
    style: Style,
    /// Whether all flags of the program are harmless, so that a file name may look like a flag.
    #[serde(default)]
    plain: bool,
    /// Whether an argument that begins with `@` names a file with further arguments.
    #[serde(default)]
    response: bool,
    /// Whether the program only prints, whatever its arguments are.
    #[serde(default)]
    any: bool,
    /// If the program runs a command that follows its flags: the number of positional arguments before that command.
    wraps: Option<usize>,
    /// Whether `NAME=value` may precede the command that the program runs.
    #[serde(default)]
    assigns: bool,
    /// Complete lists of arguments that are allowed, besides those that match the form.
    #[serde(default)]
    alone: Vec<String>,
    /// A special check of the program's arguments.
    check: Option<Check>,
    /// The forms of the subcommands. A subcommand follows the flags that `flags` lists.
    #[serde(default)]
    sub: Vec<FormEntry>,
}

/// How a program parses its flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Style {
    /// As in GNU programs: letters may be combined after one dash, values may be joined, and flags may follow
    /// positional arguments.
    #[default]
    Gnu,
    /// Like `Gnu`, but the first positional argument ends the flags.
    Posix,
    /// Each flag is an argument of its own, to which its value may be joined.
    Exact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Check {
    Sed,
    Awk,
    Jq,
    Find,
    Test,
    Xargs,
    Shell,
    Cd,
    Set,
    Ps,
    Asks,
    Archive,
}

/// The type of a flag's value, or of a positional argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A text that does not name a file.
    Text,
    /// Two texts that do not name files.
    Texts,
    /// An optional text after `=`, or directly after the letter.
    Optional,
    /// The name of a file that is read.
    File,
    /// The name of a file whose name and kind are shown, but not its content.
    Name,
    /// A script or a pattern; if a flag gives one, the first positional argument is not a script.
    Script,
    /// No value. If the flag is given, the first positional argument is not a script.
    NoScript,
    /// A pattern for the names of files that are read.
    Include,
    /// The name of a language.
    Language,
    /// A folder that becomes the current one.
    Folder,
    /// A format of git that shows no signatures, because git would run gpg to check one.
    Format,
    /// The name of a git setting that does not hold secrets.
    Setting,
    /// A commit, a path, or a path in a commit.
    Revision,
    /// A text that begins with `+`.
    Plus,
    /// A name without a slash, which cannot be a path.
    Topic,
    /// A format of printf that does not set a variable.
    Printf,
    /// Columns of ps, without those that show the environment of processes.
    Columns,
}

#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) flags: HashMap<Box<str>, Takes>,
    pub(super) places: Vec<(Takes, bool)>,
    pub(super) needs: Vec<Vec<Box<str>>>,
    pub(super) places_with: Vec<Box<str>>,
    pub(super) look: Option<Settings>,
    pub(super) walk: Option<Walk>,
    pub(super) recursive: Vec<Box<str>>,
    pub(super) skips: Vec<Box<str>>,
    pub(super) style: Style,
    pub(super) plain: bool,
    pub(super) response: bool,
    pub(super) any: bool,
    pub(super) wraps: Option<usize>,
    pub(super) assigns: bool,
    pub(super) alone: Vec<Vec<Box<str>>>,
    pub(super) check: Option<Check>,
    /// Whether the program is allowed only with exactly one of the argument lists in `alone`.
    pub(super) is_only_alone: bool,
    /// The subcommands, each with the words of its name and its form.
    pub(super) sub: Vec<(Vec<Box<str>>, Form)>,
}

/// The forms of a program, with those of its subcommands.
#[derive(Debug, Clone)]
pub(in crate::shell) struct Forms(pub(super) Form);

impl Forms {
    /// Parses the entry of a program.
    ///
    /// # Errors
    /// When the type of a flag or of a positional argument is unknown.
    pub(in crate::shell) fn read(written: &FormEntry) -> Result<Self, String> {
        Form::read(written).map(Self)
    }
}

impl Form {
    fn read(written: &FormEntry) -> Result<Self, String> {
        let words = |text: &str| text.split_whitespace().map(Box::from).collect::<Vec<Box<str>>>();
        let mut flags = HashMap::new();
        for item in written.flags.split_whitespace() {
            let (names, takes) = match item.split_once(':') {
                Some((names, kind)) => (names, Takes::read(kind)?),
                None => match item.strip_suffix('?') {
                    Some(names) => (names, Takes::Optional),
                    None => (item, Takes::Nothing),
                },
            };
            for name in names.split(',') {
                flags.insert(Box::from(name), takes);
            }
        }
        let places = written.places.split_whitespace().map(|it| {
            let (kind, is_many) = it.strip_suffix('*').map_or((it, false), |it| (it, true));
            Ok((Takes::read(kind)?, is_many))
        });
        let sub = written.sub.iter().flat_map(|it| it.names.iter().map(move |name| (name, it)));
        let sub = sub.map(|(name, it)| Ok((words(name), Self::read(it)?)));
        Ok(Self {
            flags,
            places: places.collect::<Result<_, String>>()?,
            needs: written.needs.iter().map(|it| words(it)).collect(),
            places_with: words(&written.places_with),
            look: written.look,
            walk: written.walk,
            recursive: words(&written.recursive),
            skips: words(&written.skips),
            style: written.style,
            plain: written.plain,
            response: written.response,
            any: written.any,
            wraps: written.wraps,
            assigns: written.assigns,
            alone: written.alone.iter().map(|it| words(it)).collect(),
            check: written.check,
            is_only_alone: !written.alone.is_empty()
                && written.check.is_none()
                && written.sub.is_empty()
                && written.flags.is_empty()
                && written.places.is_empty(),
            sub: sub.collect::<Result<_, String>>()?,
        })
    }

    /// Returns the type of a flag's value.
    pub(super) fn flag(&self, name: &str) -> Option<Takes> {
        self.flags.get(name).copied()
    }

    /// Returns the flag with this name: the name in the table, and the type of the value.
    pub(super) fn find_flag(&self, name: &str) -> Option<(&str, Takes)> {
        self.flags.get_key_value(name).map(|(name, takes)| (&**name, *takes))
    }

    /// Returns the flag with this letter: its name in the table, and the type of its value.
    pub(super) fn find_letter(&self, letter: char) -> Option<(&str, Takes)> {
        let mut name = [b'-', 0, 0, 0, 0];
        let length = 1 + letter.encode_utf8(&mut name[1..]).len();
        self.find_flag(std::str::from_utf8(&name[..length]).ok()?)
    }
}

impl Takes {
    fn read(kind: &str) -> Result<Self, String> {
        Ok(match kind {
            "text" => Self::Text,
            "texts" => Self::Texts,
            "file" => Self::File,
            "name" => Self::Name,
            "script" => Self::Script,
            "no-script" => Self::NoScript,
            "include" => Self::Include,
            "language" => Self::Language,
            "folder" => Self::Folder,
            "format" => Self::Format,
            "setting" => Self::Setting,
            "revision" => Self::Revision,
            "plus" => Self::Plus,
            "topic" => Self::Topic,
            "printf" => Self::Printf,
            "columns" => Self::Columns,
            other => return Err(format!("`{other}` is not a type of value")),
        })
    }
}
