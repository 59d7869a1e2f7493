//! Writes a table as Markdown. The cells are not padded, because one wide cell would be repeated as blanks in each row.

use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, Node};
use markup5ever_rcdom::NodeData;

/// Writes a table that has a header cell, and is not part of another table's cell. Other tables are layout, and become the
/// blocks that they contain.
pub(super) fn table(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let (captions, rows) = parts(element.node);
    let has_header = rows.iter().any(|row| cells(row).iter().any(|it| name(it) == "th"));
    if !has_header || is_in_cell(element.node) {
        return Some(handlers.walk_children(element.node));
    }
    let mut text = String::from("\n\n");
    for caption in captions {
        text.push_str(written(handlers, &caption).trim());
        text.push('\n');
    }
    let columns = rows.iter().map(|row| cells(row).len()).max().unwrap_or_default();
    for (index, row) in rows.iter().enumerate() {
        let cells = cells(row);
        text.push('|');
        for cell in &cells {
            let cell = written(handlers, cell).replace('\n', " ").replace('|', "&#124;");
            text.push(' ');
            text.push_str(cell.trim());
            text.push_str(" |");
        }
        // Only the first row has to have all columns; a shorter row has empty cells at its end.
        if index == 0 {
            text.push_str(&"  |".repeat(columns - cells.len()));
            text.push_str("\n|");
            text.push_str(&" --- |".repeat(columns));
        }
        text.push('\n');
    }
    text.push('\n');
    Some(text.into())
}

/// Returns the captions and the rows of a table.
fn parts(table: &Rc<Node>) -> (Vec<Rc<Node>>, Vec<Rc<Node>>) {
    let (mut captions, mut rows) = (Vec::new(), Vec::new());
    for part in table.children.borrow().iter() {
        match name(part) {
            "caption" => captions.push(part.clone()),
            "tr" => rows.push(part.clone()),
            "thead" | "tbody" | "tfoot" => {
                let inner = part.children.borrow();
                rows.extend(inner.iter().filter(|it| name(it) == "tr").cloned());
            }
            _ => {}
        }
    }
    rows.retain(|row| !cells(row).is_empty());
    (captions, rows)
}

fn cells(row: &Rc<Node>) -> Vec<Rc<Node>> {
    row.children.borrow().iter().filter(|it| matches!(name(it), "td" | "th")).cloned().collect()
}

/// Returns the text of a node as Markdown.
fn written(handlers: &dyn Handlers, node: &Rc<Node>) -> String {
    handlers.handle(node).map(|it| it.content).unwrap_or_default()
}

fn is_in_cell(node: &Rc<Node>) -> bool {
    let mut above = parent(node);
    while let Some(node) = above {
        if matches!(name(&node), "td" | "th") {
            return true;
        }
        above = parent(&node);
    }
    false
}

fn parent(node: &Rc<Node>) -> Option<Rc<Node>> {
    let parent = node.parent.take();
    node.parent.set(parent.clone());
    parent?.upgrade()
}

/// Returns the name of an element; an empty text for other nodes.
fn name(node: &Rc<Node>) -> &str {
    match &node.data {
        NodeData::Element { name, .. } => &name.local,
        _ => "",
    }
}
