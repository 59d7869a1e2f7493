//! Skills, which people ask an agent for by name.

use serde::Deserialize;

use super::{Kind, Others, Refusal};

/// The front matter of a skill.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// The name of the file.
    name: String,
    /// What the skill is good for.
    #[serde(rename = "description")]
    _description: String,
    /// The names of the skill's arguments.
    #[serde(default, rename = "arguments")]
    _arguments: Vec<String>,
}

impl Kind for Skill {
    const FOLDER: &'static str = "skills";
    const INVALID: &'static str = "invalid_skill";
    const LOWER_CASE: bool = true;

    fn accept(&self, _: &Self, name: &str, _: &dyn Others) -> Result<(), Refusal> {
        if self.name == name {
            return Ok(());
        }
        let message =
            format!("the skill would be named `{}`, expected `{name}`, as its file is", self.name);
        Err(Refusal("invalid_skill", message))
    }
}
