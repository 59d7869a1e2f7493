//! Plugins that show the model texts from folders: skills that it activates, and instruction files that it always
//! reads.

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
