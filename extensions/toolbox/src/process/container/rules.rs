//! The ignore rules of git below a folder of a container: reads them there, and evaluates them here as for a folder of this
//! machine.

use std::collections::BTreeMap;
use std::path::Path;

use toolwright::ToolError;

use super::Container;
use super::script::path;
use crate::workspace::{Name, OfFolder, ignores, rules_of};

/// The total size limit of the files with rules, in bytes: 4 MiB.
const LARGEST: u64 = 4 << 20;

/// Prints the name and the text of each existing file, each followed by a NUL.
const TEXTS: &str = r#"for it; do
  if [ -f "$it" ] && [ -r "$it" ]; then
    printf '%s\000' "$it"; tr -d '\000' <"$it"; printf '\000'
  fi
done"#;

/// The ignore rules that apply below a folder.
pub(super) struct Rules {
    /// The searched folder; empty for the workspace itself, else with `/` at the end.
    start: String,
    /// The rules by their folder, with `/` at the end, relative to the workspace.
    folders: BTreeMap<String, OfFolder>,
}

impl Rules {
    /// Reads the rules of the folders from the workspace down to `start`, and those among the `files` below `start`.
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
        let mut rules = Self { start: prefix, folders: BTreeMap::new() };
        let mut parts = ran.output.split(|byte| *byte == 0);
        while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
            let (name, text) = (String::from_utf8_lossy(name), String::from_utf8_lossy(text));
            rules.add(name.trim_start_matches("./"), &text);
        }
        // The caller has named this folder, so list it even if a rule above ignores it, using only the rules from here down.
        let is_ignored =
            rules.start.match_indices('/').any(|(end, _)| rules.matches(&rules.start[..end], true));
        if is_ignored {
            let start = rules.start.clone();
            rules.folders.retain(|folder, _| folder.starts_with(&start));
        }
        Ok(rules)
    }

    fn add(&mut self, name: &str, text: &str) {
        let is_exclude = name == ".git/info/exclude";
        let folder = if is_exclude { "" } else { &name[..name.len() - last(name).len()] };
        let rules = rules_of(Path::new(&format!("/{folder}")), text);
        let of_folder = self.folders.entry(folder.to_owned()).or_default();
        match last(name) {
            _ if is_exclude => of_folder.exclude = rules,
            ".gitignore" => of_folder.git = rules,
            _ => of_folder.ignore = rules,
        }
    }

    /// Whether the entry, relative to the searched folder, is hidden or ignored.
    pub(super) fn ignores(&self, relative: &str, is_folder: bool) -> bool {
        last(relative).starts_with('.')
            || self.matches(&format!("{}{relative}", self.start), is_folder)
    }

    fn matches(&self, name: &str, is_folder: bool) -> bool {
        let above = self.folders.iter().rev().filter(|(folder, _)| name.starts_with(*folder));
        ignores(above.map(|(_, rules)| rules), Path::new(&format!("/{name}")), is_folder)
    }
}

/// Returns the last part of a name.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
