//! Applies the recorded changes of a repair to the original text again.

use toolwright_core::json::parse::parse;
use toolwright_core::json::pointer::unescape;
use toolwright_core::json::tree::Node;
use toolwright_core::repairs::Change;

/// Applies recorded changes to the text that was repaired; `None` if they were recorded for another text.
///
/// ```
/// use toolwright::repair::{Change, ChangeRule, replay};
///
/// let change = Change {
///     pointer: "/limit".to_owned(),
///     rule: ChangeRule::Integer,
///     from: "\"3\"".to_owned(),
///     to: "3".to_owned(),
/// };
/// assert_eq!(replay(r#"{"limit": "3"}"#, &[change]).as_deref(), Some(r#"{"limit":3}"#));
/// ```
#[must_use]
pub fn replay(original: &str, changes: &[Change]) -> Option<String> {
    let Some(first) = changes.first() else { return Some(original.to_owned()) };
    let (mut tree, rest) = match strict(original) {
        Some(tree) => (tree, changes),
        None if first.pointer.is_empty() && first.from == original => {
            (strict(&first.to)?, &changes[1..])
        }
        None => return None,
    };
    for change in rest {
        apply(&mut tree, change)?;
    }
    Some(tree.text())
}

fn strict(text: &str) -> Option<Node> {
    parse(text).ok().filter(|parsed| parsed.uses.is_empty()).map(|parsed| parsed.node)
}

fn apply(tree: &mut Node, change: &Change) -> Option<()> {
    if change.rule.renames() || change.to.is_empty() {
        let (holder, segment) = change.pointer.rsplit_once('/')?;
        let Node::Object(entries) = tree.at_mut(holder)? else { return None };
        let key = unescape(segment);
        let index = entries.iter().position(|(it, _)| *it == key)?;
        if change.to.is_empty() {
            let (_, removed) = entries.remove(index);
            return (removed.text() == change.from).then_some(());
        }
        entries[index].0 = serde_json::from_str(&change.to).ok()?;
        return Some(());
    }
    let place = tree.at_mut(&change.pointer)?;
    if place.text() != change.from {
        return None;
    }
    *place = strict(&change.to)?;
    Some(())
}
