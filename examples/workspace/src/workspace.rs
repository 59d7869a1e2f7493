//! The folder that the tools work on. Paths are relative to it, and none leads out of it.

use std::io;
use std::path::{Component, Path, PathBuf};

use toolwright::ToolError;

/// A folder, by its real path.
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub fn of_current_folder() -> io::Result<Self> {
        Self::at(".")
    }

    pub fn at(root: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { root: root.as_ref().canonicalize()? })
    }

    /// Its real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The real path of what exists below the root.
    pub fn existing(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = self.root.join(plain(path)?).canonicalize().map_err(|error| at(path, error))?;
        self.inside(path, real)
    }

    /// The real path of a file that may not exist yet. Its nearest folder that exists must be
    /// inside; the folders between are made.
    pub fn writable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let target = self.root.join(plain(path)?);
        // Also a link that leads nowhere: what stands there decides where a write would go.
        if target.symlink_metadata().is_ok() {
            return self.existing(path);
        }
        let parent = target.parent().unwrap_or(&self.root);
        let nearest = parent.ancestors().find(|folder| folder.exists()).unwrap_or(&self.root);
        self.inside(path, nearest.canonicalize().map_err(|error| at(path, error))?)?;
        std::fs::create_dir_all(parent).map_err(|error| at(path, error))?;
        Ok(target)
    }

    /// How the model knows a file.
    pub fn relative(&self, real: &Path) -> String {
        let relative = real.strip_prefix(&self.root).unwrap_or(real);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    /// Whether a file holds keys or secrets by its name or its folder's, in any case: what the policy does not let be read
    /// by name, a call that reads a whole folder must not read either.
    pub fn is_secret(&self, real: &Path) -> bool {
        const KINDS: [&str; 5] = ["rsa", "dsa", "ecdsa", "ed25519", "xmss"];
        let relative = self.relative(real).to_lowercase();
        let is_key_of_ssh = |name: &str| {
            name.strip_prefix("id_").is_some_and(|it| KINDS.iter().any(|kind| it.starts_with(kind)))
        };
        relative.split('/').any(|name| {
            matches!(name, "secrets" | ".ssh")
                || name.starts_with(".env")
                || name.ends_with(".pem")
                || name.ends_with(".key")
                || is_key_of_ssh(name)
        })
    }

    fn inside(&self, path: &str, real: PathBuf) -> Result<PathBuf, ToolError> {
        if real.starts_with(&self.root) {
            return Ok(real);
        }
        Err(outside(path))
    }

    /// Files below a folder in a stable order, folders that are hidden or built left out.
    pub fn files(&self, folder: &Path, depth: usize) -> Result<Vec<PathBuf>, ToolError> {
        let mut found = Vec::new();
        let mut open = vec![(folder.to_owned(), depth)];
        while let Some((folder, depth)) = open.pop() {
            let mut entries: Vec<_> = std::fs::read_dir(&folder)
                .and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
                .map_err(|error| at(&self.relative(&folder), error))?
                .into_iter()
                .filter(|entry| !is_left_out(&entry.file_name().to_string_lossy()))
                .collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            for entry in entries {
                let kind =
                    entry.file_type().map_err(|error| at(&self.relative(&entry.path()), error))?;
                if kind.is_file() {
                    found.push(entry.path());
                } else if kind.is_dir() && depth > 1 {
                    open.push((entry.path(), depth - 1));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The words for what went wrong with a file, by the path that the model used.
pub fn at(path: &str, error: io::Error) -> ToolError {
    let failed = ToolError::from(error);
    let words = format!("`{path}`: {failed}");
    ToolError::new(failed.kind().to_owned(), words).class(failed.classified())
}

fn plain(path: &str) -> Result<&Path, ToolError> {
    let plain = Path::new(path);
    if plain.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Ok(plain);
    }
    Err(outside(path))
}

fn outside(path: &str) -> ToolError {
    ToolError::new("outside_workspace", format!("`{path}` leads out of the workspace"))
        .hint("use a path relative to the workspace, without `..`")
}

fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || name == "target" || name == "node_modules"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_workspace() {
        let workspace = Workspace::at(env!("CARGO_MANIFEST_DIR")).unwrap();
        for path in ["/etc/passwd", "../../Cargo.toml", "src/../../tests/Cargo.toml"] {
            assert_eq!(workspace.existing(path).unwrap_err().kind(), "outside_workspace", "{path}");
            assert_eq!(workspace.writable(path).unwrap_err().kind(), "outside_workspace", "{path}");
        }
        assert!(workspace.existing("./src/main.rs").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_not_written_through() {
        let folder = std::env::temp_dir().join(format!("workspace-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inside")).unwrap();
        std::os::unix::fs::symlink(folder.join("escaped"), folder.join("inside/link")).unwrap();
        let workspace = Workspace::at(folder.join("inside")).unwrap();
        assert!(workspace.writable("link").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
