//! What git ignores below a folder of a container: the rules are read there and decided here, like those of a folder of this
//! machine.

use std::collections::BTreeMap;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use toolwright::ToolError;

use super::Container;
use super::script::path;
use crate::workspace::Name;

/// The files with rules of one list, altogether, in bytes: 4 MiB.
const LARGEST: u64 = 4 << 20;

/// Prints the name and the text of each file that is there, each with a NUL.
const TEXTS: &str = r#"for it; do
  if [ -f "$it" ] && [ -r "$it" ]; then
    printf '%s\000' "$it"; tr -d '\000' <"$it"; printf '\000'
  fi
done"#;

/// Rules of one kind, by the folder that they are for: its name with `/` at the end, relative to the workspace.
type OfFolders = BTreeMap<String, Gitignore>;

/// The rules that hold below a folder.
pub(super) struct Rules {
    /// The folder that is searched; empty for the workspace, else with `/` at the end.
    start: String,
    /// From the highest rank down: `.ignore`, `.gitignore`, `.git/info/exclude`.
    kinds: [OfFolders; 3],
}

impl Rules {
    /// The rules of the folders from the workspace to `start`, and of those in which the `files` below `start` are.
    pub(super) fn read<'f>(
        container: &Container,
        start: &Name,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Self, ToolError> {
        let prefix = if start.as_str() == "." { String::new() } else { format!("{start}/") };
        let mut names = vec!["./.git/info/exclude".to_owned()];
        let above = prefix.match_indices('/').map(|(end, _)| &prefix[..=end]);
        for folder in std::iter::once("").chain(above) {
            names.extend([format!("./{folder}.ignore"), format!("./{folder}.gitignore")]);
        }
        let is_rules = |file: &&str| matches!(last(file), ".ignore" | ".gitignore");
        names.extend(files.filter(is_rules).map(|file| path(&start.below(file))));
        names.sort();
        names.dedup();
        let ran = container.run(start, TEXTS, &names, None, LARGEST)?;
        if !ran.is_done() || ran.output.len() as u64 > LARGEST {
            return Err(ran.failed(start));
        }
        let mut rules = Self { start: prefix, kinds: Default::default() };
        let mut parts = ran.output.split(|byte| *byte == 0);
        while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
            let (name, text) = (String::from_utf8_lossy(name), String::from_utf8_lossy(text));
            rules.add(name.trim_start_matches("./"), &text);
        }
        // A folder that a rule above names is listed by its own rules, because the caller has named it.
        let is_ignored =
            rules.start.match_indices('/').any(|(end, _)| rules.matches(&rules.start[..end], true));
        if is_ignored {
            let start = rules.start.clone();
            for kind in &mut rules.kinds {
                kind.retain(|folder, _| folder.starts_with(&start));
            }
        }
        Ok(rules)
    }

    fn add(&mut self, name: &str, text: &str) {
        let (kind, folder) = match name {
            ".git/info/exclude" => (2, ""),
            name => {
                (usize::from(last(name) == ".gitignore"), &name[..name.len() - last(name).len()])
            }
        };
        let mut builder = GitignoreBuilder::new(format!("/{folder}"));
        for line in text.lines() {
            // A line that is no pattern is left out, as git does.
            let _ = builder.add_line(None, line);
        }
        if let Ok(rules) = builder.build() {
            self.kinds[kind].insert(folder.to_owned(), rules);
        }
    }

    /// Whether what is at this name, relative to the folder that is searched, is hidden or ignored.
    pub(super) fn ignores(&self, relative: &str, is_folder: bool) -> bool {
        last(relative).starts_with('.')
            || self.matches(&format!("{}{relative}", self.start), is_folder)
    }

    /// Whether the first rule that names it says so: of each kind the innermost folder counts.
    fn matches(&self, name: &str, is_folder: bool) -> bool {
        let whole = format!("/{name}");
        self.kinds
            .iter()
            .find_map(|kind| {
                let above = kind.iter().rev().filter(|(folder, _)| name.starts_with(*folder));
                above.map(|(_, rules)| rules.matched(&whole, is_folder)).find(|it| !it.is_none())
            })
            .is_some_and(|it| it.is_ignore())
    }
}

/// The last part of a name.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
