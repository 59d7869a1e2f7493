//! The words of a command line: everything is in kebab-case, and the word of a tool's group is not repeated.

use std::fmt;

use toolwright_core::tool::Definition;

/// The words that call a tool on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Words {
    pub(super) group: Option<String>,
    pub(super) tool: String,
}

impl Words {
    /// Names the command of a tool: `read_file` and `file_read` in group `file` are both `file read`, and
    /// `list_entries` in group `entry` is `entry list`.
    pub(super) fn of(definition: &Definition) -> Self {
        let name = kebab(&definition.name);
        let Some(group) = definition.group.as_deref().map(kebab) else {
            return Self { group: None, tool: name };
        };
        let spellings = [vec![group.clone()], other_numbers(&group)].concat();
        let without = |word: &String| {
            let first = name.strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
            let last = || name.strip_suffix(word).and_then(|rest| rest.strip_suffix('-'));
            first.or_else(last)
        };
        let tool = spellings.iter().find_map(without).unwrap_or(&name).to_owned();
        Self { group: Some(group), tool }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => write!(formatter, "{group} {}", self.tool),
            None => formatter.write_str(&self.tool),
        }
    }
}

/// Returns possible singular or plural forms of a word: `entries` for `entry`, `entry` for `entries`.
fn other_numbers(word: &str) -> Vec<String> {
    let mut others = vec![format!("{word}s")];
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end)) {
        others.push(format!("{word}es"));
    }
    for (one, many) in [("y", "ies"), ("", "es"), ("", "s")] {
        let both = [(one, many), (many, one)];
        let swapped = both.iter().filter(|(from, _)| !from.is_empty());
        others.extend(swapped.filter_map(|(from, to)| {
            let stem = word.strip_suffix(from).filter(|stem| !stem.is_empty())?;
            Some(format!("{stem}{to}"))
        }));
    }
    others
}

/// Converts a name to kebab-case: `maxResults`, `max_results` and `max.results` are all `max-results`.
pub(super) fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len());
    let mut after_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            if !kebab.is_empty() && !kebab.ends_with('-') {
                kebab.push('-');
            }
            after_small = false;
            continue;
        }
        if letter.is_uppercase() && after_small {
            kebab.push('-');
        }
        after_small = letter.is_lowercase() || letter.is_numeric();
        kebab.extend(letter.to_lowercase());
    }
    kebab.truncate(kebab.trim_end_matches('-').len());
    kebab
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwright_executor::dynamic::DynamicTool;
    use toolwright_executor::registry::Registry;

    #[test]
    fn the_word_of_a_group_is_said_once_in_either_number() {
        for (group, name, command) in [
            ("entry", "list_entries", "entry list"),
            ("entry", "add_entry", "entry add"),
            ("entries", "add_entry", "entries add"),
            ("file", "search_files", "file search"),
            ("notes", "note_add", "notes add"),
            ("box", "list_boxes", "box list"),
            ("file", "read_profile", "file read-profile"),
            ("entry", "entries", "entry entries"),
            ("news", "news_list", "news list"),
        ] {
            let schema = serde_json::json!({"type": "object"});
            let tool = DynamicTool::new(name, "Does it.", schema, |_, _| async { Ok(()) });
            let registry = Registry::of([tool.group(group)]).unwrap();
            assert_eq!(Words::of(&registry.get(name).unwrap()).to_string(), command);
        }
    }

    #[test]
    fn every_way_of_writing_a_name_is_one_word_on_the_command_line() {
        for name in ["max_results", "maxResults", "max.results", "_max-results", "Max__Results_"] {
            assert_eq!(kebab(name), "max-results", "{name}");
        }
        assert_eq!(kebab("HTTPStatus"), "httpstatus");
        assert_eq!(kebab("a1B2"), "a1-b2");
        assert_eq!(kebab("___"), "");
    }
}
