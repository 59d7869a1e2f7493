//! A plugin for skills: the model reads the names and descriptions of all skills, and the texts of the skills that it
//! activates.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::{
    ErrorClass, ExecutorBuilder, IntoTool, Registration, ToolError, error_kind, tool,
};

use super::mark::marked;
use super::read::read_text;
use super::skill::{FILE, MOST_BYTES, Skill, SkillProblem};
use crate::plugin::{NextTurn, Plugin, PluginError, Plugins};

/// The maximum number of entries in a folder of skills.
const MOST_ENTRIES: usize = 1_000;

/// A plugin of skills: folders with a file `SKILL.md`, whose front matter has `name` and `description`. The model reads
/// the names and descriptions, and activates a skill by the tool `skill_activate`. From then on, the model's
/// instructions contain the text of that skill.
///
/// The plugin reads the files once, when it is made. Each file has at most 64 KiB, and its `name` is the name of its
/// folder. A folder of a skill and a file `SKILL.md` must not be symbolic links.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel, Skills};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("haiku"))?;
/// # let text = "---\nname: haiku\ndescription: Writes haiku.\n---\nThree lines: 5, 7 and 5 syllables.\n";
/// # std::fs::write(folder.path().join("haiku/SKILL.md"), text)?;
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let skills = Skills::read([folder.path()])?;
/// assert_eq!(skills.names().collect::<Vec<_>>(), ["haiku"]);
/// let model = ScriptedModel::new().calls([("skill_activate", r#"{"id":"haiku"}"#)]).says("An old silent pond…");
/// let agent = Agent::builder(model).with(skills).build()?;
/// agent.run("Write a haiku.").await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Skills(Arc<BTreeMap<String, Skill>>);

/// Which skills are active: the state of [`Skills`].
#[toolwright::data]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActiveSkills {
    /// The names of the active skills, in the order in which they were activated.
    pub ids: Vec<String>,
}

impl Skills {
    /// Reads the skills of these folders.
    ///
    /// # Errors
    /// When a folder cannot be read, a skill is not valid, or two skills have the same name. The error lists all
    /// problems.
    pub fn read<F: AsRef<Path>>(folders: impl IntoIterator<Item = F>) -> Result<Self, SkillsError> {
        match Self::read_usable(folders) {
            (skills, problems) if problems.is_empty() => Ok(skills),
            (_, problems) => Err(SkillsError { problems }),
        }
    }

    /// Reads the skills of these folders as [`read`](Self::read) does, but leaves out folders and skills that have a
    /// problem, and returns the problems beside the other skills.
    pub fn read_usable<F: AsRef<Path>>(
        folders: impl IntoIterator<Item = F>,
    ) -> (Self, Vec<SkillProblem>) {
        let (mut skills, mut problems) = (BTreeMap::new(), Vec::new());
        for folder in folders {
            let folder = folder.as_ref();
            match entries(folder) {
                Ok(entries) => {
                    entries.iter().for_each(|it| add(&mut skills, &mut problems, it));
                }
                Err(why) => problems.push(SkillProblem { place: folder.to_owned(), why }),
            }
        }
        (Self(Arc::new(skills)), problems)
    }

    /// Returns the names of the skills, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Lists the entries of a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = |error: std::io::Error| format!("it cannot be read: {error}");
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        if entries.len() == MOST_ENTRIES {
            return Err(format!(
                "it has more than {MOST_ENTRIES} entries, expected at most that many"
            ));
        }
        entries.push(entry.map_err(read)?.path());
    }
    entries.sort();
    Ok(entries)
}

/// Adds the skill of a folder, if it has one.
fn add(skills: &mut BTreeMap<String, Skill>, problems: &mut Vec<SkillProblem>, folder: &Path) {
    let mut problem = |place: PathBuf, why: String| problems.push(SkillProblem { place, why });
    let Ok(found) = fs::symlink_metadata(folder) else { return };
    if found.is_symlink() {
        return problem(folder.to_owned(), "it is a link, expected a folder".to_owned());
    }
    if !found.is_dir() {
        return;
    }
    let file = folder.join(FILE);
    let read = read_text(&file, MOST_BYTES);
    match read.and_then(|it| it.map(|text| Skill::parse(folder, &text)).transpose()) {
        Ok(None) => {}
        Err(why) => problem(file, why),
        Ok(Some(skill)) => match skills.get(&skill.name) {
            Some(first) => {
                let first = first.folder.display();
                problem(
                    file,
                    format!("another skill of its name is in {first}; rename one of them"),
                );
            }
            None => {
                skills.insert(skill.name.clone(), skill);
            }
        },
    }
}

impl Plugin for Skills {
    type State = ActiveSkills;

    fn id(&self) -> String {
        "skills".to_owned()
    }

    fn tools(&self) -> Vec<Registration> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => vec![SKILL_ACTIVATE.into_tool()],
        }
    }

    fn install(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        executor.service(self.clone())
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let line = |it: &Skill| format!("- {}: {}", it.name, it.description);
        let lines: Vec<String> = self.0.values().map(line).collect();
        turn.instruct(format!(
            "Skills, each of which `skill_activate` adds to these instructions. Activate one before you do what it is for.\n{}",
            lines.join("\n")
        ));
        let active = turn.get::<Self>().unwrap_or_default();
        for skill in active.ids.iter().filter_map(|id| self.0.get(id)) {
            let what = format!("the skill {} of {}", skill.name, skill.folder.display());
            turn.instruct(marked(&what, &skill.text));
        }
        Ok(())
    }
}

/// Whether a skill is active now.
#[toolwright::data]
pub(super) struct ActivationResult {
    /// Always.
    success: bool,
}

/// Adds the text of a skill to the instructions, from the next turn on.
#[tool(unlinked, group = "skill", effect = idempotent, danger = safe, writes())]
async fn skill_activate(
    plugins: &Plugins,
    skills: &Skills,
    /// The name of the skill, as it is listed.
    id: String,
) -> Result<ActivationResult, ToolError> {
    if !skills.0.contains_key(&id) {
        let names: Vec<String> = skills.names().map(|it| format!("`{it}`")).collect();
        let error = ToolError::new(error_kind::NOT_FOUND, format!("no skill is called `{id}`"));
        let hint = format!("the skills are {}", names.join(", "));
        return Err(error.class(ErrorClass::Invalid).hint(hint));
    }
    plugins
        .edit::<Skills, _>(|active| {
            if !active.ids.contains(&id) {
                active.ids.push(id);
            }
        })
        .await?;
    Ok(ActivationResult { success: true })
}

/// The skills that cannot be used, with the reasons.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct SkillsError {
    /// The problems, at least one.
    pub problems: Vec<SkillProblem>,
}
toolwright::unstable::debug_as_sentence!(SkillsError);

impl fmt::Display for SkillsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the skills cannot be used")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}
