//! A skill, parsed from a Markdown file with front matter. The functions are pure.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The file of a skill, in its folder.
pub(super) const FILE: &str = "SKILL.md";

/// The maximum size of a skill's file, in bytes.
pub(super) const MOST_BYTES: u64 = 64 << 10;

/// The maximum length of a skill's front matter, in bytes.
const MOST_FRONT: usize = 8 << 10;

/// The maximum length of a skill's name, in characters.
const MOST_NAME: usize = 64;

/// The maximum length of a skill's description, in characters.
const MOST_DESCRIPTION: usize = 1024;

const FENCE: &str = "---";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skill {
    pub name: String,
    /// The description, on one line.
    pub description: String,
    pub text: String,
    pub folder: PathBuf,
}

/// The keys of the front matter that are read. All others are ignored, because they belong to other programs.
#[derive(Deserialize)]
struct FrontMatter {
    name: String,
    description: String,
}

impl Skill {
    /// Parses the text of the file in this folder.
    ///
    /// # Errors
    /// Returns the reason why the text is not a valid skill.
    pub(super) fn parse(folder: &Path, text: &str) -> Result<Self, String> {
        let (front, text) = split(text)?;
        let FrontMatter { name, description } = front_matter(front)?;
        let is_name = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        if name.is_empty() || name.chars().count() > MOST_NAME || !name.chars().all(is_name) {
            return Err(format!(
                "its name is {name:?}, expected up to {MOST_NAME} lower-case letters, digits and hyphens"
            ));
        }
        let of_folder = folder.file_name().and_then(|it| it.to_str());
        if of_folder != Some(name.as_str()) {
            return Err(format!(
                "its name is `{name}`, expected `{}` as its folder is called",
                of_folder.unwrap_or_default()
            ));
        }
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = description.chars().count();
        if length == 0 || length > MOST_DESCRIPTION || description.chars().any(char::is_control) {
            return Err(format!(
                "its description has {length} characters, expected 1 to {MOST_DESCRIPTION} without control characters"
            ));
        }
        if text.trim().is_empty() {
            return Err("it has no text behind its front matter".to_owned());
        }
        let (text, folder) = (text.trim().to_owned(), folder.to_owned());
        Ok(Self { name, description, text, folder })
    }
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != FENCE {
        return Err(format!("it does not begin with `{FENCE}`, expected front matter"));
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(format!("its front matter has no end, expected a line `{FENCE}`"))
}

fn front_matter(text: &str) -> Result<FrontMatter, String> {
    if text.len() > MOST_FRONT {
        let found = text.len();
        return Err(format!("its front matter has {found} bytes, expected at most {MOST_FRONT}"));
    }
    let options = serde_saphyr::options! {
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 1_000 },
        budget: serde_saphyr::budget! { max_events: 10_000, max_nodes: 10_000, max_depth: 16 },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.to_string();
        let first = error.lines().next().unwrap_or_default();
        format!(
            "its front matter does not fit: {first}; expected `name` and `description`, both texts"
        )
    })
}

/// The reason why a skill cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillProblem {
    /// The path of the file or folder that cannot be used.
    pub place: PathBuf,
    /// Why the skill cannot be used.
    pub why: String,
}

impl fmt::Display for SkillProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place.display(), self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Skill, String> {
        Skill::parse(Path::new("skills/pdf"), text)
    }

    #[test]
    fn a_skill_is_its_front_matter_and_its_text() {
        let text = "---\nname: pdf\ndescription: |\n  Reads PDF files.\n  Also forms.\nlicense: MIT\n---\n# How\nUse it.\n";
        let skill = parse(text).unwrap();
        assert_eq!(
            (skill.name.as_str(), skill.description.as_str()),
            ("pdf", "Reads PDF files. Also forms.")
        );
        assert_eq!(skill.text, "# How\nUse it.");
        assert_eq!(parse(&text.replace('\n', "\r\n")).unwrap().name, "pdf");
    }

    #[test]
    fn front_matter_that_lies_is_refused_with_what_was_found_and_expected() {
        let with = |front: &str| format!("---\n{front}\n---\ntext");
        let long = "x".repeat(2000);
        for (text, words) in [
            ("text".to_owned(), "does not begin with `---`"),
            ("---\nname: pdf\n".to_owned(), "has no end"),
            (with("name: pdf"), "missing field `description`"),
            (with("description: x"), "missing field `name`"),
            (with("name: pdf\nname: pdf\ndescription: x"), "does not fit"),
            (with("name: [pdf]\ndescription: x"), "does not fit"),
            (with("name: doc\ndescription: x"), "its name is `doc`, expected `pdf`"),
            (with("name: ../pdf\ndescription: x"), "its name is \"../pdf\""),
            (with("name: pdf\ndescription: ' '"), "has 0 characters"),
            (with(&format!("name: pdf\ndescription: {long}")), "has 2000 characters"),
            (with("name: pdf\ndescription: \"a\\u001b[2Jb\""), "without control characters"),
            (
                with(&format!("name: pdf\ndescription: x\nmore: {}", "y".repeat(9000))),
                "expected at most 8192",
            ),
            ("---\nname: pdf\ndescription: x\n---\n \n".to_owned(), "no text"),
        ] {
            let problem = parse(&text).unwrap_err();
            assert!(problem.contains(words), "{words}: {problem}");
        }
    }

    #[test]
    fn aliases_that_grow_are_refused() {
        let mut front = "name: pdf\ndescription: x\na0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{}", level - 1);
            let all = vec![before; 8].join(", ");
            front += &format!("a{level}: &a{level} [{all}]\n");
        }
        let problem = parse(&format!("---\n{front}---\ntext")).unwrap_err();
        assert!(problem.contains("does not fit"), "{problem}");
    }
}
