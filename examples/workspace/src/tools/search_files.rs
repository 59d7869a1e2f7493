//! `search_files` finds lines that contain a text. It reads the files below a folder, skips those that are not text
//! or hold keys or secrets, and refuses paths that lead out of the workspace.

use toolwright::{ToolContext, ToolError, tool};
use toolwright_toolbox::{Workspace, is_secret};

/// The lines that were found.
#[toolwright::data]
pub struct Found {
    matches: Vec<Match>,
    /// Whether there are more than were asked for.
    more: bool,
}

/// One line.
#[toolwright::data]
pub struct Match {
    path: String,
    line: usize,
    text: String,
}

/// Find lines that contain a text, taken literally.
#[tool(group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn search_files(
    workspace: &Workspace,
    context: &ToolContext,
    /// The text to look for.
    #[arg(length = 1..=200)]
    pattern: String,
    /// Folder to search, relative to the workspace.
    #[arg(default = ".")]
    path: String,
    /// How many lines to return at the most.
    #[arg(default = 20, minimum = 1, maximum = 200)]
    limit: usize,
) -> Result<Found, ToolError> {
    let mut matches = Vec::new();
    let files = workspace.files(context, &path, usize::MAX)?;
    for file in files.into_iter().filter(|file| !is_secret(file)) {
        let Ok(content) = workspace.read_text(&file) else { continue };
        let lines = content.lines().enumerate().filter(|(_, line)| line.contains(&pattern));
        for (index, line) in lines {
            if matches.len() == limit {
                return Ok(Found { matches, more: true });
            }
            matches.push(Match {
                path: file.clone(),
                line: index + 1,
                text: line.trim().to_owned(),
            });
        }
    }
    Ok(Found { matches, more: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_secrets_are_not_searched() {
        let folder = std::env::temp_dir().join(format!("search-files-{}", std::process::id()));
        let files = [
            "deploy/secrets/prod.yml",
            "deploy/Secrets/eu/prod.yml",
            "server.pem",
            "deploy/TLS.KEY",
            "id_ed25519_work",
            "src/main.rs",
            "src/secretary.rs",
            "monkey",
        ];
        for file in files {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "password = hunter2\n").expect("a file");
        }
        let workspace = Workspace::open(&folder).expect("it is there");
        let search = |path: &str| {
            let context = ToolContext::test();
            let found =
                search_files(&workspace, &context, "hunter2".to_owned(), path.to_owned(), 200);
            found.expect("a folder").matches.into_iter().map(|it| it.path).collect::<Vec<_>>()
        };
        assert_eq!(search("."), ["monkey", "src/main.rs", "src/secretary.rs"]);
        assert_eq!(search("deploy/secrets"), [""; 0]);
        std::fs::remove_dir_all(folder).expect("it was there");
    }
}
