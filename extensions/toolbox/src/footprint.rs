//! Finds the files of a workspace that a call writes, from its footprint; pure.

use std::path::Path;

use toolwright::{File, Footprint, Holds as _, ResourceKind as _};

use crate::Workspace;
use crate::workspace::Name;

/// The files that a call writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WrittenFiles {
    pub(crate) names: Vec<Name>,
    /// Why the call may write other files than these, if it may.
    pub(crate) unnamed: Option<String>,
}

impl WrittenFiles {
    /// Whether the call writes no file of the workspace.
    #[cfg(feature = "changes")]
    pub(crate) fn is_nothing(&self) -> bool {
        self.names.is_empty() && self.unnamed.is_none()
    }

    /// Makes the value for a call that may write any file.
    pub(crate) fn unnamed() -> Self {
        let unnamed = Some("it does not name what it writes".to_owned());
        Self { names: Vec::new(), unnamed }
    }

    /// Returns the files of a workspace that a footprint says are written.
    pub(crate) fn of(footprint: &Footprint, workspace: &Workspace) -> Self {
        let Some(written) = footprint.resources_written() else { return Self::unnamed() };
        let own = workspace.scope();
        let mut files = Self::default();
        for resource in written.iter().filter(|it| it.kind() == File::LABEL) {
            let Some(name) = resource.name() else {
                files.unnamed = Some("it does not name the files that it writes".to_owned());
                continue;
            };
            let scope = resource.scope().filter(|it| **it != own);
            match inside(workspace.root(), scope.map(|it| it.as_str()), name) {
                Inside::Name(name) => files.names.push(name),
                Inside::Root => {
                    files.unnamed = Some("it may write every file of the workspace".to_owned());
                }
                Inside::Outside => {}
            }
        }
        files.without_real_names(workspace)
    }

    /// Removes the target of a link if the link is named too, so that each file is listed once, as the call names it.
    fn without_real_names(mut self, workspace: &Workspace) -> Self {
        let behind: Vec<Name> =
            self.names.iter().flat_map(|name| workspace.names_past_links(name)).collect();
        let mut known: Vec<Name> = Vec::new();
        self.names.retain(|name| {
            let is_new = !behind.contains(name) && !known.contains(name);
            known.extend(is_new.then(|| name.clone()));
            is_new
        });
        self
    }
}

/// Whether a named file is inside of a workspace.
enum Inside {
    Name(Name),
    Root,
    Outside,
}

/// Returns the name of a file relative to the workspace. `name` is relative to the scope, or to the workspace if there
/// is none.
fn inside(root: &Path, scope: Option<&str>, name: &str) -> Inside {
    let below = match (scope, Path::new(name).is_absolute()) {
        (None, false) => name.to_owned(),
        (scope, _) => {
            let whole = Path::new(scope.unwrap_or_default()).join(name);
            if root.starts_with(&whole) {
                return Inside::Root;
            }
            match whole.strip_prefix(root).ok().and_then(Path::to_str) {
                Some(below) => below.to_owned(),
                None => return Inside::Outside,
            }
        }
    };
    match Name::parse(&below) {
        Ok(name) if name.as_str() == "." => Inside::Root,
        Ok(name) => Inside::Name(name),
        // An invalid name: the tool itself refuses it, with its own message.
        Err(_) => Inside::Outside,
    }
}
