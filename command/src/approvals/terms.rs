//! Parses the terms of a grant from the command line. Pure.

use std::collections::HashSet;

use serde_json::value::RawValue;
use toolwright::approval::{ApprovalService, Clause, Scope};
use toolwright::journal::{CallRecord, StoredText};
use toolwright::unstable::arguments::canonical;

use crate::operator::{Stop, pointer};
use crate::shown::printable;

/// A scope as the person typed it. `OwnRun` is the run of the call that the grant is given with.
#[derive(Debug, Clone)]
pub(super) enum ScopedTerms {
    OwnRun,
    Named(Scope),
}

pub(super) fn scope(text: &str) -> Result<ScopedTerms, String> {
    Ok(match (text, text.split_once(':')) {
        ("run", _) => ScopedTerms::OwnRun,
        ("forever", _) => ScopedTerms::Named(Scope::Forever),
        (_, Some(("session", id))) if !id.is_empty() => {
            ScopedTerms::Named(Scope::Session(id.to_owned()))
        }
        (_, Some(("project", name))) if !name.is_empty() => {
            ScopedTerms::Named(Scope::Project(name.to_owned()))
        }
        _ => return Err("expected run, session:ID, project:NAME or forever".to_owned()),
    })
}

/// Parses `POINTER=JSON`, a clause that allows one value at the pointer.
pub(super) fn is(text: &str) -> Result<Clause, String> {
    let (pointer, value) = pointer::value(text)?;
    Ok(Clause { pointer, is_one_of: vec![value] })
}

/// Parses `POINTER=JSON,JSON`, a clause that allows several values at the pointer.
pub(super) fn is_one_of(text: &str) -> Result<Clause, String> {
    let values = |list: &str| {
        let list = format!("[{list}]");
        let values: Vec<&RawValue> = serde_json::from_str(&list).ok()?;
        Some(values.into_iter().map(|value| value.get().to_owned()).collect())
    };
    clause(text, values).ok_or_else(|| {
        "expected POINTER=JSON,JSON, such as /unit='\"lines\",\"bytes\"': write a text in double quotes".to_owned()
    })
}

fn clause(text: &str, values: impl Fn(&str) -> Option<Vec<String>>) -> Option<Clause> {
    let values = |text: &str| values(text).filter(|values| !values.is_empty());
    pointer::split(text, values).map(|(pointer, is_one_of)| Clause { pointer, is_one_of })
}

/// Collects the clauses of the command line. Refuses two clauses for one pointer, since both would have to hold.
pub(super) fn together<'a>(given: impl Iterator<Item = &'a Clause>) -> Result<Vec<Clause>, Stop> {
    let mut pointers = HashSet::new();
    given
        .map(|clause| match pointers.insert(&clause.pointer) {
            true => Ok(clause.clone()),
            false => Err(Stop::usage(format!(
                "{:?} is given twice, and both would have to hold: give --where-in with all of its values once",
                clause.pointer
            ))),
        })
        .collect()
}

/// Makes the clause that allows exactly the arguments of this call. Separate clauses for each argument would also allow
/// a call with an additional argument.
pub(super) fn exactly(call: &CallRecord) -> Result<Vec<Clause>, Stop> {
    let StoredText::Plain(arguments) = &call.arguments else {
        return Err(Stop::usage(format!(
            "call {} has secrets, so that no grant can name exactly its arguments: the application alone has the key \
             to them. Name those that count with --where",
            call.id
        )));
    };
    // The grant is signed, so it may name only the arguments that people were shown.
    ApprovalService::check_shown(call)?;
    let text = canonical(arguments).map_err(|error| {
        Stop::new(
            crate::Exit::Failed,
            format!("the arguments of call {} cannot be read: {error}", call.id),
        )
    })?;
    Ok(match text.as_str() {
        // The call has no arguments. A grant without clauses covers only calls without arguments.
        "{}" => Vec::new(),
        _ => vec![Clause { pointer: String::new(), is_one_of: vec![text] }],
    })
}

/// Describes the clauses for people.
pub(super) fn words(clauses: &[Clause]) -> String {
    let each = clauses.iter().map(|clause| {
        let place = if clause.pointer.is_empty() { "the arguments" } else { &clause.pointer };
        let is = if clause.is_one_of.len() == 1 { "is" } else { "is one of" };
        format!("{} {is} {}", printable::line(place), printable::line(&clause.is_one_of.join(", ")))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        "without arguments".to_owned()
    } else {
        format!("where {}", each.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(clause: Result<Clause, String>) -> (String, Vec<String>) {
        let clause = clause.unwrap();
        (clause.pointer, clause.is_one_of)
    }

    fn expected(pointer: &str, values: &[&str]) -> (String, Vec<String>) {
        (pointer.to_owned(), values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_first_sign_after_which_there_is_a_value_ends_the_pointer() {
        assert_eq!(parts(is(r#"/to="a=b""#)), expected("/to", &[r#""a=b""#]));
        assert_eq!(parts(is("/a=b=2")), expected("/a=b", &["2"]));
        assert_eq!(parts(is("={}")), expected("", &["{}"]));
        assert_eq!(
            parts(is_one_of(r#"/u="a,b",[1,2],3"#)),
            expected("/u", &[r#""a,b""#, "[1,2]", "3"])
        );
        for text in ["/to", "/to=", "/to=ada", "/to=1,2"] {
            assert!(is(text).is_err(), "{text}");
        }
        for text in ["/to=", "/to=1,", "/to=1],[2"] {
            assert!(is_one_of(text).is_err(), "{text}");
        }
    }
}
