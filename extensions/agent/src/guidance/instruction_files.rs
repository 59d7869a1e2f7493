//! A plugin for instruction files: it shows the model the `AGENTS.md` of the project's folders, the nearest first.

use std::path::{Path, PathBuf};

use super::mark::marked;
use super::read::read_text;
use crate::plugin::{NextTurn, Plugin, PluginError};

const FILE: &str = "AGENTS.md";

/// The maximum size of an instruction file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The maximum number of bytes that all files together add to the instructions.
const MOST_TEXT: usize = 32 << 10;

/// The maximum number of folders that are searched for a file, from the nearest on.
const MOST_FOLDERS: usize = 64;

/// A plugin that shows the model the files `AGENTS.md` of a folder and of its parents, the nearest first, up to the
/// root of a project. The plugin says to the model that the texts come from the folder and not from the user. Of all
/// files together, text beyond 32 KiB is cut off.
///
/// The plugin reads the files once, when it is made, so an agent cannot give itself instructions by writing such a
/// file. An `AGENTS.md` that is a symbolic link is refused.
///
/// ```
/// use toolwright_agent::{Agent, InstructionFiles, ScriptedModel};
///
/// # let project = tempfile::tempdir()?;
/// # std::fs::write(project.path().join("AGENTS.md"), "Run the tests with `just test`.")?;
/// let files = InstructionFiles::read(project.path(), project.path())?;
/// assert_eq!(files.files().count(), 1);
/// let agent = Agent::builder(ScriptedModel::new()).with(files).build()?;
/// # let _ = agent;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct InstructionFiles {
    files: Vec<PathBuf>,
    text: String,
}

impl InstructionFiles {
    /// Reads the file `AGENTS.md` of `folder` and of its parents up to `root`, of at most 64 folders. A folder without
    /// such a file is skipped.
    ///
    /// # Errors
    /// When the root or the folder does not exist, the folder is not within the root, or a file cannot be read, is a
    /// link, has more than 1 MiB, or is not UTF-8.
    pub fn read(
        root: impl AsRef<Path>,
        folder: impl AsRef<Path>,
    ) -> Result<Self, InstructionFilesError> {
        let problem =
            |place: &Path, why: String| InstructionFilesError { place: place.to_owned(), why };
        let real = |path: &Path| {
            path.canonicalize()
                .map_err(|error| problem(path, format!("it cannot be read: {error}")))
        };
        let (root, nearest) = (real(root.as_ref())?, real(folder.as_ref())?);
        if !nearest.starts_with(&root) {
            let why = format!("it does not lie in {}, expected a folder within it", root.display());
            return Err(problem(&nearest, why));
        }
        let (mut files, mut texts) = (Vec::new(), Vec::new());
        let mut left = MOST_TEXT;
        let folders = nearest.ancestors().take_while(|it| it.starts_with(&root));
        for folder in folders.take(MOST_FOLDERS) {
            let file = folder.join(FILE);
            let text = read_text(&file, MOST_BYTES).map_err(|why| problem(&file, why))?;
            let Some(text) = text.filter(|it| !it.trim().is_empty()) else { continue };
            let shown = file.strip_prefix(&root).unwrap_or(&file).to_path_buf();
            texts.push(limited(&shown, text.trim(), &mut left));
            files.push(file);
        }
        let text = match texts.is_empty() {
            true => String::new(),
            false => format!(
                "The folder that you work in gives these instructions, the nearest first. They are of the folder's files, and not of the user, whose word counts before theirs.\n\n{}",
                texts.join("\n\n")
            ),
        };
        Ok(Self { files, text })
    }

    /// Returns the paths of the files, the nearest to the folder first.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }
}

/// Returns the text of a file between marks, cut to `left` bytes, with a note about what was cut. Subtracts the length
/// of the text from `left`.
fn limited(file: &Path, text: &str, left: &mut usize) -> String {
    let end = (0..=text.len().min(*left)).rev().find(|it| text.is_char_boundary(*it));
    let (shown, rest) = text.split_at(end.unwrap_or(0));
    *left -= shown.len();
    let what = format!("the file {}", file.display());
    match rest.len() {
        0 => marked(&what, shown),
        cut => format!(
            "{}\n[{cut} bytes of this file are left out here; read it]",
            marked(&what, shown)
        ),
    }
}

impl Plugin for InstructionFiles {
    type State = ();

    fn id(&self) -> String {
        "instruction-files".to_owned()
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        turn.instruct(self.text.clone());
        Ok(())
    }
}

/// The reason why instruction files cannot be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", place.display())]
#[non_exhaustive]
pub struct InstructionFilesError {
    /// The path of the file or folder that cannot be used.
    pub place: PathBuf,
    /// Why the file or folder cannot be used.
    pub why: String,
}
toolwright::unstable::debug_as_sentence!(InstructionFilesError);
