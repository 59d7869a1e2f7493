//! Plugins that show texts from folders to the model: skills that the model activates, and instruction files that the
//! model reads in every turn.

mod instruction_files;
mod mark;
mod read;
#[cfg(feature = "skills")]
mod skill;
#[cfg(feature = "skills")]
mod skills;

pub use self::instruction_files::{InstructionFiles, InstructionFilesError};
#[cfg(feature = "skills")]
pub use self::skill::SkillProblem;
#[cfg(feature = "skills")]
pub use self::skills::{ActiveSkills, Skills, SkillsError};
