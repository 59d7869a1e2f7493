//! In which forms a program only reads and prints: every flag that is known, and what each takes.

use std::collections::HashMap;

use serde::Deserialize;

use super::looks::{Settings, Walk};

/// The forms of one program, as they are written in the table.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct FormEntry {
    pub(in crate::shell) names: Vec<String>,
    /// Flags, each as `-n,--lines:text`. See [`Takes`].
    #[serde(default)]
    flags: String,
    /// The places that are no flags: `script file*`. Nothing where no place is allowed.
    #[serde(default)]
    places: String,
    /// Of each group, one of the flags is given.
    #[serde(default)]
    needs: Vec<String>,
    /// Places are allowed with one of these flags only.
    #[serde(default)]
    places_with: String,
    /// What is looked at before it runs, because settings of the folder may name what it runs.
    look: Option<Settings>,
    /// What finds every file below a folder that it reads.
    walk: Option<Walk>,
    /// Flags with which it reads every file below a folder. It does so without any where none is named.
    #[serde(default)]
    recursive: String,
    /// Flags with which it leaves files out.
    #[serde(default)]
    skips: String,
    #[serde(default)]
    style: Style,
    /// Whether no flag of it does harm, so that the name of a file may look like one.
    #[serde(default)]
    plain: bool,
    /// Whether an argument that begins with `@` names a file of arguments.
    #[serde(default)]
    response: bool,
    /// Whether it only prints, whatever its arguments.
    #[serde(default)]
    any: bool,
    /// Whether a command follows its flags, and behind how many places.
    wraps: Option<usize>,
    /// Whether `NAME=value` may stand before that command.
    #[serde(default)]
    assigns: bool,
    /// Lists of arguments, each as a whole.
    #[serde(default)]
    alone: Vec<String>,
    /// What is looked at by a rule of its own.
    check: Option<Check>,
    /// The subcommands, behind `flags`.
    #[serde(default)]
    sub: Vec<FormEntry>,
}

/// How a program reads its flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Style {
    /// Letters may follow one dash together, values may be joined, and flags may stand behind places.
    #[default]
    Gnu,
    /// So, but the first place ends the flags.
    Posix,
    /// Each flag is an argument of its own; its value may be joined.
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

/// What a flag takes, and what a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A text that names no file.
    Text,
    /// Two such texts.
    Texts,
    /// A text that may stand behind `=` or directly behind the letter.
    Optional,
    /// The name of a file that is read.
    File,
    /// The name of a file of which no more is shown than its name and its kind.
    Name,
    /// A script or a pattern; where a flag gives one, the first place is none.
    Script,
    /// Nothing; and where it is given, the first place is no script.
    NoScript,
    /// A pattern of names of files that are read.
    Include,
    /// The name of a language.
    Language,
    /// A folder that becomes the current one.
    Folder,
    /// A format of git, which has no signature: gpg would be run to check it.
    Format,
    /// The name of a setting of git that holds no secrets.
    Setting,
    /// A commit, a path, or a path of a commit.
    Revision,
    /// A text that begins with `+`.
    Plus,
    /// A name without a slash, which is that of no file.
    Topic,
    /// A format of printf that sets no variable.
    Printf,
    /// Columns of ps, without the environment of processes.
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
    /// Whether there is nothing but whole lists.
    pub(super) is_only_alone: bool,
    /// By the words of their names.
    pub(super) sub: Vec<(Vec<Box<str>>, Form)>,
}

/// The forms of a program.
#[derive(Debug, Clone)]
pub(in crate::shell) struct Forms(pub(super) Form);

impl Forms {
    /// Reads what is written of a program.
    ///
    /// # Errors
    /// When a flag or a place takes what is not known.
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

    /// What a flag takes.
    pub(super) fn flag(&self, name: &str) -> Option<Takes> {
        self.flags.get(name).copied()
    }

    /// A flag by its name, as the table has it.
    pub(super) fn find_flag(&self, name: &str) -> Option<(&str, Takes)> {
        self.flags.get_key_value(name).map(|(name, takes)| (&**name, *takes))
    }

    /// The flag of one letter.
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
            other => return Err(format!("`{other}` is nothing that a flag or a place takes")),
        })
    }
}
