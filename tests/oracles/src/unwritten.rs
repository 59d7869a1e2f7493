//! What vendors enforce and their documents leave out.
//!
//! Written from the vendors' guides and from the words with which their servers refuse, as people report
//! them; independent of the runtime's dialects, so that one mistake is not made twice. Where the sources
//! disagree, the stricter reading is taken. Each vendor's file names its pages.

mod anthropic;
mod gemini;
mod mcp;
mod openai;
mod places;
mod references;

use serde_json::Value;
use toolwright::dialect::Dialect;

use self::places::Place;

/// Everything that the vendor would not take in one tool as it is sent; one sentence each.
#[must_use]
pub fn objections(dialect: Dialect, tool: &Value) -> Vec<String> {
    let mut objections = Objections::default();
    match dialect {
        Dialect::Anthropic => anthropic::plain(tool, &mut objections),
        Dialect::AnthropicStrict => anthropic::strict(tool, &mut objections),
        Dialect::OpenAiChat => openai::chat(tool, false, &mut objections),
        Dialect::OpenAiChatStrict => openai::chat(tool, true, &mut objections),
        Dialect::OpenAiResponses => openai::responses(tool, false, &mut objections),
        Dialect::OpenAiResponsesStrict => openai::responses(tool, true, &mut objections),
        Dialect::Gemini => gemini::json_schema(tool, &mut objections),
        Dialect::GeminiOpenApi => gemini::open_api(tool, &mut objections),
        Dialect::Mcp => mcp::tool(tool, &mut objections),
        other => objections.at("", format!("nobody has written down what {other} enforces")),
    }
    objections.0
}

/// What was found, in order.
#[derive(Default)]
struct Objections(Vec<String>);

impl Objections {
    fn at(&mut self, pointer: &str, words: impl Into<String>) {
        self.0.push(format!("at `{pointer}`: {}", words.into()));
    }

    fn expect(&mut self, holds: bool, pointer: &str, words: impl Into<String>) {
        if !holds {
            self.at(pointer, words);
        }
    }
}

/// The keys of the object are among these.
fn only_keys(value: &Value, known: &[&str], pointer: &str, objections: &mut Objections) {
    for key in value.as_object().into_iter().flat_map(|it| it.keys()) {
        objections.expect(
            known.contains(&key.as_str()),
            pointer,
            format!("there is no parameter `{key}`"),
        );
    }
}

/// The name is made of these characters and no longer.
fn name(value: &Value, marks: &str, longest: usize, objections: &mut Objections) {
    let Some(name) = value.as_str() else {
        return objections.at("/name", "the name is no text");
    };
    let fits = |it: char| it.is_ascii_alphanumeric() || marks.contains(it);
    objections.expect(
        !name.is_empty() && name.chars().count() <= longest && name.chars().all(fits),
        "/name",
        format!("`{name}` is not 1 to {longest} of letters, digits and `{marks}`"),
    );
}

/// The schema is one by its own meta-schema, draft 2020-12, and its references lead somewhere.
fn is_json_schema(schema: &Value, pointer: &str, objections: &mut Objections) {
    for error in jsonschema::draft202012::meta::validator().iter_errors(schema) {
        objections.at(
            &format!("{pointer}{}", error.instance_path()),
            format!("no JSON schema of draft 2020-12: {error}"),
        );
    }
    for place in places::all(schema, pointer) {
        if let Some(reference) = references::of(place.schema) {
            objections.expect(
                references::target(schema, reference).is_some(),
                &place.pointer,
                format!("the reference `{reference}` leads nowhere in the schema"),
            );
        }
    }
}

/// The root is an object and no choice.
fn object_root(schema: &Value, excluded: &[&str], pointer: &str, objections: &mut Objections) {
    objections.expect(schema["type"] == "object", pointer, "the root is not of type `object`");
    for keyword in excluded {
        objections.expect(
            schema.get(keyword).is_none(),
            pointer,
            format!("`{keyword}` at the top level"),
        );
    }
}

/// Every keyword of every schema is among these.
fn only_keywords(places: &[Place<'_>], known: &[&str], objections: &mut Objections) {
    for place in places {
        for keyword in place.keywords() {
            objections.expect(
                known.contains(&keyword),
                &place.pointer,
                format!("`{keyword}` is not permitted"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright::dialect::Dialect;

    use super::objections;

    #[test]
    fn a_schema_that_its_meta_schema_refuses_and_a_reference_into_nothing_are_found() {
        let tool = json!({"name": "find", "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "float"}, "b": {"$ref": "#/$defs/Nothing"}},
        }});
        let said = objections(Dialect::Mcp, &tool).join("\n");
        assert!(said.contains("/inputSchema/properties/a/type"), "{said}");
        assert!(said.contains("`#/$defs/Nothing` leads nowhere"), "{said}");
    }
}
