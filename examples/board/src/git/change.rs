//! The operations that read and change a repository, and their git commands.

use std::path::{Component, Path};

use toolwright::Danger;

/// The files whose content no reading command shows, in git's patterns: those that the policy calls secrets.
const SECRETS: [&str; 2] = [":(exclude,glob,icase)**/.env*", ":(exclude,glob,icase)**/secrets/**"];

/// What to look at.
#[toolwright::data]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum GitReading {
    /// Which files are changed, staged or new.
    Status,
    /// What is changed and not staged, or since a revision.
    Diff,
    /// What is staged.
    StagedDiff,
    /// The newest 30 commits.
    Log,
    /// One commit.
    Show,
    /// The branches.
    Branches,
}

/// What to change.
#[toolwright::data]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum GitChange {
    /// Commit files as they are now.
    Commit {
        /// The message: what the commit does, and why.
        message: String,
        /// The files, relative to the workspace; also those that were deleted.
        files: Vec<String>,
    },
    /// Make a branch and change to it.
    Branch {
        /// Its name.
        name: String,
    },
    /// Push a branch to another repository.
    Push {
        /// The name of the other repository.
        remote: String,
        /// The branch.
        branch: String,
    },
}

impl GitReading {
    /// Returns the arguments of git. A revision is passed only in the place of a revision. Paths follow `--` and are
    /// literal names, not patterns, so that git reads only the files that the call declares. Files with secrets are left
    /// out.
    ///
    /// # Errors
    /// When the revision could be read as a flag, or is missing; when a path leads out of the workspace.
    pub fn arguments(
        self,
        revision: Option<&str>,
        paths: &[String],
    ) -> Result<Vec<String>, String> {
        let fixed: &[&str] = match self {
            Self::Status => &["status", "--short", "--branch"],
            Self::Diff => &["diff", "--no-ext-diff", "--no-textconv"],
            Self::StagedDiff => &["diff", "--cached", "--no-ext-diff", "--no-textconv"],
            Self::Log => &["log", "--max-count=30", "--no-show-signature", "--oneline"],
            Self::Show => &["show", "--no-ext-diff", "--no-textconv", "--no-show-signature"],
            Self::Branches => &["branch", "--list"],
        };
        let mut arguments: Vec<String> = fixed.iter().map(|it| (*it).to_owned()).collect();
        match (self, revision) {
            (Self::Diff | Self::Log | Self::Show, Some(revision)) => {
                let revision = named("revision", revision)?;
                // The id of a file would show the file, and leave out nothing.
                let kind = if matches!(self, Self::Show) { "^{commit}" } else { "" };
                arguments.push(revision + kind);
            }
            (Self::Show, None) => {
                return Err("`show` needs a `revision`, such as `HEAD`".to_owned());
            }
            (_, Some(_)) => {
                return Err("only `diff`, `log` and `show` take a `revision`".to_owned());
            }
            (_, None) => {}
        }
        if !matches!(self, Self::Branches) {
            arguments.push("--".to_owned());
            arguments.extend(inside(paths)?.iter().map(|it| format!(":(literal){it}")));
        }
        if matches!(self, Self::Diff | Self::StagedDiff | Self::Show) {
            arguments.extend(SECRETS.map(str::to_owned));
        }
        Ok(arguments)
    }
}

impl GitChange {
    /// Returns how dangerous the change is. A push is more dangerous, because other people see it.
    #[must_use]
    pub fn danger(&self) -> Danger {
        match self {
            Self::Commit { .. } | Self::Branch { .. } => Danger::Moderate,
            Self::Push { .. } => Danger::Dangerous,
        }
    }

    /// Returns the reason why a person has to approve the change; `None` for a change without approval.
    #[must_use]
    pub fn approval(&self) -> Option<&'static str> {
        match self {
            Self::Commit { .. } => None,
            // Later commits would not be on the ticket's branch, which people review.
            Self::Branch { .. } => Some("the worktree would leave the branch of its ticket"),
            Self::Push { .. } => Some("others build on what is pushed"),
        }
    }

    /// Returns the git commands that make the change, in order.
    ///
    /// # Errors
    /// When a name could be read as a flag, a commit has no message or no files, or a file is outside of the
    /// workspace.
    pub fn steps(&self) -> Result<Vec<Vec<String>>, String> {
        let command = |fixed: &[&str], more: &[String]| {
            // A call's paths are literal names, not patterns, so that git changes only the files that the call declares.
            let fixed = ["--literal-pathspecs"].iter().chain(fixed).map(|it| (*it).to_owned());
            fixed.chain(more.iter().cloned()).collect()
        };
        Ok(match self {
            Self::Commit { message, files } => {
                if message.trim().is_empty() || files.is_empty() {
                    return Err("a commit needs a `message` and at least one of `files`".to_owned());
                }
                let files = inside(files)?;
                // Pass the message in one argument, so that a leading `-` does not make it a flag.
                let message = format!("--message={message}");
                vec![
                    command(&["add", "--all", "--"], files),
                    command(&["commit", "--quiet", &message, "--"], files),
                ]
            }
            Self::Branch { name } => {
                vec![command(&["switch", "--quiet", "--create"], &[named("branch", name)?])]
            }
            Self::Push { remote, branch } => {
                let (remote, branch) = (named("remote", remote)?, named("branch", branch)?);
                vec![command(&["push", "--quiet", "--"], &[remote, branch])]
            }
        })
    }
}

/// Checks that the paths are in the workspace. With a path outside, `git diff` would compare any two files, and show
/// their content.
fn inside(paths: &[String]) -> Result<&[String], String> {
    let is_inside = |path: &String| {
        let mut parts = Path::new(path).components();
        !path.starts_with(':')
            && parts.all(|it| matches!(it, Component::Normal(_) | Component::CurDir))
    };
    match paths.iter().find(|path| !is_inside(path)) {
        Some(path) => Err(format!(
            "found the path `{}`, expected one inside of the workspace, relative to it and without `..`",
            path.escape_debug()
        )),
        None => Ok(paths),
    }
}

/// Checks that git cannot read a name as a flag or as special syntax.
fn named(what: &str, name: &str) -> Result<String, String> {
    let is_name = |it: char| it.is_alphanumeric() || "._/~^@{}-".contains(it);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_name) {
        let name = name.escape_debug();
        return Err(format!(
            "found the {what} `{name}`, expected a name such as `main` or `HEAD~1`"
        ));
    }
    Ok(name.to_owned())
}
