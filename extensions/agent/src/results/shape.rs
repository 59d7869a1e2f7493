//! Describes the shape of a JSON value that is too long to read: its keys, types and lengths.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolwright::unstable::json::Node;

use super::text::number;

/// The maximum depth to which a shape describes a value.
const DEPTH: usize = 12;

/// The maximum number of keys that a shape names for one object.
const KEYS: usize = 60;

/// The facts that are known about the values at one location. All items of an array count as one location.
#[derive(Default)]
struct Shape {
    null: bool,
    boolean: bool,
    number: bool,
    /// The numbers of characters of the shortest and the longest text.
    text: Option<(usize, usize)>,
    /// The numbers of items of the shortest and the longest array.
    array: Option<(usize, usize)>,
    items: Option<Box<Shape>>,
    objects: usize,
    fields: BTreeMap<String, Field>,
}

#[derive(Default)]
struct Field {
    /// How many of the objects have the key.
    times: usize,
    shape: Shape,
}

/// Writes the shape of a value in lines, as deep as fits into this many characters.
pub(super) fn shape_of(value: &Node, most: usize) -> String {
    let mut shape = Shape::default();
    shape.add(value, DEPTH);
    let mut text = String::new();
    for depth in (0..=DEPTH).rev() {
        text.clear();
        shape.write(depth, 0, &mut text);
        if text.chars().count() <= most {
            break;
        }
    }
    text
}

impl Shape {
    fn add(&mut self, value: &Node, depth: usize) {
        match value {
            Node::Null => self.null = true,
            Node::Bool(_) => self.boolean = true,
            Node::Number(_) => self.number = true,
            Node::Text(text) => widen(&mut self.text, text.chars().count()),
            Node::Array(items) => {
                widen(&mut self.array, items.len());
                if depth > 0 && !items.is_empty() {
                    let shape = self.items.get_or_insert_default();
                    items.iter().for_each(|item| shape.add(item, depth - 1));
                }
            }
            Node::Object(entries) => {
                self.objects += 1;
                for (key, value) in entries.iter().filter(|_| depth > 0) {
                    let field = match self.fields.get_mut(key) {
                        Some(field) => field,
                        None => self.fields.entry(key.clone()).or_default(),
                    };
                    field.times += 1;
                    field.shape.add(value, depth - 1);
                }
            }
        }
    }

    fn write(&self, depth: usize, indent: usize, out: &mut String) {
        let mut is_first = true;
        let mut or = |out: &mut String| {
            if !std::mem::take(&mut is_first) {
                out.push_str(" or ");
            }
        };
        if self.objects > 0 {
            or(out);
            self.write_object(depth, indent, out);
        }
        if let Some(lengths) = self.array {
            or(out);
            let _ = write!(out, "array of {}", range(lengths));
            if let Some(items) = self.items.as_ref().filter(|_| depth > 0) {
                out.push_str(": ");
                items.write(depth - 1, indent, out);
            }
        }
        if let Some(lengths) = self.text {
            or(out);
            let _ = write!(out, "string of {}", range(lengths));
        }
        for (is_there, word) in
            [(self.number, "number"), (self.boolean, "boolean"), (self.null, "null")]
        {
            if is_there {
                or(out);
                out.push_str(word);
            }
        }
    }

    fn write_object(&self, depth: usize, indent: usize, out: &mut String) {
        let keys = self.fields.len();
        if depth == 0 || keys == 0 {
            let _ = write!(out, "object of {} keys", number(keys));
            return;
        }
        out.push_str("{\n");
        for (key, field) in self.fields.iter().take(KEYS) {
            let optional = if field.times < self.objects { "?" } else { "" };
            let key = Node::Text(key.clone()).text();
            let _ = write!(out, "{:1$}{key}{optional}: ", "", indent + 2);
            field.shape.write(depth - 1, indent + 2, out);
            out.push('\n');
        }
        if keys > KEYS {
            let _ = writeln!(out, "{:1$}… and {2} more keys", "", indent + 2, number(keys - KEYS));
        }
        let _ = write!(out, "{:1$}}}", "", indent);
    }
}

fn widen(range: &mut Option<(usize, usize)>, length: usize) {
    let (least, most) = range.unwrap_or((length, length));
    *range = Some((least.min(length), most.max(length)));
}

fn range((least, most): (usize, usize)) -> String {
    match least == most {
        true => number(most),
        false => format!("{} to {}", number(least), number(most)),
    }
}

#[cfg(test)]
mod tests {
    use toolwright::unstable::json::read;

    use super::*;

    const PACKAGES: &str = r#"{"packages":[{"name":"a","id":7,"deps":[]},{"name":"serde","id":null,"deps":[{"kind":"dev"}],"x/y":true}],"version":1}"#;

    #[test]
    fn a_shape_has_the_keys_types_and_lengths_of_a_value() {
        let shape = shape_of(&read(PACKAGES).expect("JSON"), 10_000);
        let expected = [
            "{",
            r#"  "packages": array of 2: {"#,
            r#"    "deps": array of 0 to 1: {"#,
            r#"      "kind": string of 3"#,
            "    }",
            r#"    "id": number or null"#,
            r#"    "name": string of 1 to 5"#,
            r#"    "x/y"?: boolean"#,
            "  }",
            r#"  "version": number"#,
            "}",
        ];
        assert_eq!(shape, expected.join("\n"));
    }

    #[test]
    fn a_shape_is_less_deep_where_there_is_less_room() {
        let value = read(PACKAGES).expect("JSON");
        assert_eq!(shape_of(&value, 60), "{\n  \"packages\": array of 2\n  \"version\": number\n}");
        assert_eq!(shape_of(&value, 0), "object of 2 keys");
    }

    #[test]
    fn an_object_of_many_keys_is_shown_in_part() {
        let entries = (0..100).map(|key| (format!("k{key:02}"), Node::Null)).collect();
        let shape = shape_of(&Node::Object(entries), 10_000);
        assert!(shape.contains("… and 40 more keys"), "{shape}");
    }
}
