//! Selects the tools of an agent or a client by patterns. A misspelt pattern is an error: it must neither allow nor
//! forbid a tool unnoticed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Catalog;
use toolwright_core::near::near;
use toolwright_core::tool::Definition;

/// A selection of tools, as a list of patterns.
///
/// | pattern | selects |
/// | --- | --- |
/// | `*` | every tool |
/// | `file_*` | the tools whose names begin with `file_` |
/// | `read_file` | the tool of this name |
/// | `group:file`, `group:file*` | the tools of the group `file`, of the groups whose names begin with `file` |
/// | `tag:reading`, `tag:read*` | the tools with the tag `reading`, with a tag that begins with `read` |
/// | `!` before any of these | excludes the tools of that pattern, even if another pattern selects them |
///
/// ```
/// use toolwright::{Profile, Registry, tool};
///
/// /// Reads.
/// #[tool(group = "file", effect = read)]
/// async fn read_file() {}
///
/// /// Deletes.
/// #[tool(group = "file")]
/// async fn delete_file() {}
///
/// let catalog = Registry::of([READ_FILE, DELETE_FILE])?.catalog();
/// let careful = catalog.select(&Profile::new(["group:file", "!delete_*"])?)?;
/// assert_eq!(careful.names().collect::<Vec<_>>(), ["read_file"]);
/// let error = catalog.select(&Profile::new(["*", "!delete_files"])?).unwrap_err();
/// assert_eq!(error.to_string(), "the pattern `!delete_files` matches no tool; did you mean `delete_file`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Profile {
    patterns: Vec<Pattern>,
    /// The profile of the catalog to which this profile was applied. It must select a tool as well.
    within: Option<Box<Profile>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    excludes: bool,
    subject: Subject,
    text: String,
    is_prefix: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Name,
    Group,
    Tag,
}

impl Profile {
    /// Makes a profile of these patterns.
    ///
    /// # Errors
    /// When a pattern is not valid.
    pub fn new(
        patterns: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, InvalidPattern> {
        let patterns = patterns.into_iter().map(|it| it.as_ref().parse());
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()?, within: None })
    }

    pub(crate) fn selects(&self, definition: &Definition) -> bool {
        let any = |excludes| {
            self.patterns.iter().any(|it| it.excludes == excludes && it.fits(definition))
        };
        any(false)
            && !any(true)
            && self.within.as_ref().is_none_or(|within| within.selects(definition))
    }

    /// Returns the profile of the tools that both profiles select.
    pub(super) fn and(&self, other: &Self) -> Self {
        let within = match &other.within {
            Some(within) => self.and(within),
            None => self.clone(),
        };
        Self { patterns: other.patterns.clone(), within: Some(Box::new(within)) }
    }

    /// Checks that every pattern matches a tool.
    pub(crate) fn matches(&self, catalog: &Catalog) -> Result<(), ProfileError> {
        let unmatched = self
            .patterns
            .iter()
            .find(|pattern| !catalog.definitions().any(|definition| pattern.fits(definition)));
        let Some(pattern) = unmatched else { return Ok(()) };
        let close = |words: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            near(&pattern.text, words).into_iter().map(str::to_owned).collect()
        };
        let mut near = match pattern.subject {
            Subject::Name => close(&mut catalog.names()),
            Subject::Group => {
                close(&mut catalog.definitions().filter_map(|it| it.group.as_deref()))
            }
            Subject::Tag => {
                close(&mut catalog.definitions().flat_map(|it| it.tags.iter().map(String::as_str)))
            }
        };
        near.dedup();
        Err(ProfileError::NoMatch { pattern: pattern.to_string(), near })
    }
}

impl Pattern {
    fn fits(&self, definition: &Definition) -> bool {
        let fits = |word: &str| match self.is_prefix {
            true => word.starts_with(&self.text),
            false => word == self.text,
        };
        match self.subject {
            Subject::Name => fits(&definition.name),
            Subject::Group => definition.group.as_deref().is_some_and(fits),
            Subject::Tag => definition.tags.iter().any(|tag| fits(tag)),
        }
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(written: &str) -> Result<Self, InvalidPattern> {
        let invalid = |problem| Err(InvalidPattern { pattern: written.to_owned(), problem });
        let (excludes, rest) = match written.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let subjects = [("group:", Subject::Group), ("tag:", Subject::Tag)];
        let named =
            subjects.into_iter().find_map(|(word, it)| Some((it, rest.strip_prefix(word)?)));
        let (subject, rest) = named.unwrap_or((Subject::Name, rest));
        let (text, is_prefix) = match rest.strip_suffix('*') {
            Some(text) => (text, true),
            None => (rest, false),
        };
        if rest.is_empty() {
            return invalid("it names nothing");
        }
        if text.contains('*') {
            return invalid("`*` is allowed only at its end");
        }
        if text.contains(char::is_whitespace) || text.starts_with('!') {
            return invalid("it has white space or a second `!`");
        }
        Ok(Self { excludes, subject, text: text.to_owned(), is_prefix })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self.subject {
            Subject::Name => "",
            Subject::Group => "group:",
            Subject::Tag => "tag:",
        };
        let (not, star) =
            (if self.excludes { "!" } else { "" }, if self.is_prefix { "*" } else { "" });
        write!(formatter, "{not}{subject}{}{star}", self.text)
    }
}

impl TryFrom<Vec<String>> for Profile {
    type Error = InvalidPattern;

    fn try_from(patterns: Vec<String>) -> Result<Self, InvalidPattern> {
        Self::new(patterns)
    }
}

/// Leaves the profile in `within` out, because it belongs to a catalog and is not part of what the application wrote.
impl From<Profile> for Vec<String> {
    fn from(profile: Profile) -> Self {
        profile.patterns.iter().map(ToString::to_string).collect()
    }
}

/// Profiles by name, such as those of a configuration file.
///
/// ```
/// use toolwright::{Profiles, Registry, tool};
///
/// /// Reads.
/// #[tool(effect = read, tags("read"))]
/// async fn read_file() {}
///
/// let profiles: Profiles = serde_json::from_str(r#"{"developer": ["*"], "reviewer": ["tag:read"]}"#)?;
/// let catalog = Registry::of([READ_FILE])?.catalog();
/// // Checks once, when the program starts, that every pattern of every profile matches a tool.
/// profiles.check(&catalog)?;
/// let reviewed = catalog.select(profiles.get("reviewer")?)?;
/// assert_eq!(reviewed.len(), 1);
/// let error = profiles.get("reviewers").unwrap_err();
/// assert_eq!(error.to_string(), "no profile is called `reviewers`; did you mean `reviewer`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Profiles(BTreeMap<String, Profile>);

impl Profiles {
    /// Collects these profiles; if two have the same name, the later one replaces the earlier.
    pub fn of(profiles: impl IntoIterator<Item = (impl Into<String>, Profile)>) -> Self {
        Self(profiles.into_iter().map(|(name, profile)| (name.into(), profile)).collect())
    }

    /// Returns the profile with this name.
    ///
    /// # Errors
    /// When there is no profile of this name. No default profile is used instead.
    pub fn get(&self, name: &str) -> Result<&Profile, UnknownProfile> {
        self.0.get(name).ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
            near: near(name, self.names()).into_iter().map(str::to_owned).collect(),
            known: self.names().map(str::to_owned).collect(),
        })
    }

    /// Lists the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Checks that every profile selects at least one tool of the catalog, and that each of its patterns matches a
    /// tool.
    ///
    /// # Errors
    /// When a profile has a problem. The error contains the first problem of each such profile.
    pub fn check(&self, catalog: &Catalog) -> Result<(), ProfileError> {
        let problems: Vec<(String, ProfileError)> = self
            .0
            .iter()
            .filter_map(|(name, profile)| Some((name.clone(), catalog.select(profile).err()?)))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(ProfileError::Several { problems }) }
    }
}

/// An invalid pattern of a profile.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The pattern as the application wrote it.
    pub pattern: String,
    problem: &'static str,
}
toolwright_core::debug_as_sentence!(InvalidPattern);

impl fmt::Display for InvalidPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "`{}` is no pattern: {}; expected `*`, `read_file`, `file_*`, `group:file` or `tag:read`, `!` before it to exclude",
            self.pattern, self.problem
        )
    }
}

impl std::error::Error for InvalidPattern {}

/// Why a profile cannot be applied to a catalog.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileError {
    /// A pattern matches no tool.
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The known names that are similar to the written one.
        near: Vec<String>,
    },
    /// No tool is selected, or every selected tool is excluded.
    Empty,
    /// One or more profiles have problems.
    Several {
        /// The name and the problem of each profile that has a problem. The list is not empty.
        problems: Vec<(String, ProfileError)>,
    },
}
toolwright_core::debug_as_sentence!(ProfileError);

impl fmt::Display for ProfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch { pattern, near } => {
                write!(formatter, "the pattern `{pattern}` matches no tool")?;
                match near.as_slice() {
                    [] => Ok(()),
                    near => write!(formatter, "; did you mean `{}`?", near.join("`, `")),
                }
            }
            Self::Empty => formatter.write_str(
                "the profile selects no tool; name at least one, or `*` for all, that no `!` excludes",
            ),
            Self::Several { problems } => {
                formatter.write_str("not every profile fits the tools")?;
                problems
                    .iter()
                    .try_for_each(|(name, problem)| write!(formatter, "\n- `{name}`: {problem}"))
            }
        }
    }
}

impl std::error::Error for ProfileError {}

/// The error for the name of a profile that does not exist. No other profile is used instead, because it might allow
/// tools that the wanted profile forbids.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownProfile {
    /// The name that no profile has.
    pub name: String,
    /// The names of profiles that are similar to the unknown name.
    pub near: Vec<String>,
    /// The names of all known profiles.
    pub known: Vec<String>,
}
toolwright_core::debug_as_sentence!(UnknownProfile);

impl fmt::Display for UnknownProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no profile is called `{}`", self.name)?;
        match (self.near.as_slice(), self.known.as_slice()) {
            ([], []) => formatter.write_str("; there are none"),
            ([], known) => write!(formatter, "; expected one of `{}`", known.join("`, `")),
            (near, _) => write!(formatter, "; did you mean `{}`?", near.join("`, `")),
        }
    }
}

impl std::error::Error for UnknownProfile {}
