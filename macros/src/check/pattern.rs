//! The rules for the `pattern` of a parameter. The macro uses the same parser as the runtime.

use regex_syntax::ast::ErrorKind;
use syn::LitStr;

use crate::errors::Errors;
use crate::model::Tool;

pub fn compile(tool: &Tool, errors: &mut Errors) {
    for pattern in tool.inputs().filter_map(|param| param.args.pattern.as_ref()) {
        if let Some(problem) = problem(pattern) {
            errors.over(pattern, problem);
        }
    }
}

fn problem(pattern: &LitStr) -> Option<String> {
    let written = pattern.value();
    // JSON Schema uses ECMAScript's regular expressions, but the runtime matches with Rust's.
    let translated = jsonschema_regex::to_rust_regex(&written).ok();
    let error = regex_syntax::parse(translated.as_deref().unwrap_or(&written)).err();
    let reason = match (error, &translated) {
        (None, Some(_)) => return None,
        (Some(regex_syntax::Error::Parse(error)), _) => match error.kind() {
            ErrorKind::UnsupportedLookAround => {
                return Some(
                    "a pattern cannot look ahead or behind: it is matched in time that grows with the text alone; say what the text is made of, and check the rest in the body"
                        .to_owned(),
                );
            }
            ErrorKind::UnsupportedBackreference => {
                return Some(
                    "a pattern cannot refer back to a group: it is matched in time that grows with the text alone; check that in the body"
                        .to_owned(),
                );
            }
            ErrorKind::RepetitionMissing => {
                "nothing comes before a repetition; unlike in a glob, any text is `.*`".to_owned()
            }
            kind => kind.to_string(),
        },
        (Some(regex_syntax::Error::Translate(error)), _) => error.kind().to_string(),
        _ => "it is not one of JSON Schema's".to_owned(),
    };
    let reason = reason.trim_end_matches('.');
    Some(format!("the pattern is no regular expression: {reason}"))
}
