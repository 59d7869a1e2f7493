//! Determines whether a type accepts exactly what its schema accepts, by reading sample values when a registry is made.
//!
//! - Sample values that the schema accepts are read. Then each part of a sample is replaced by odd values, and the
//!   result is read again. If type and schema disagree, there are three possibilities: the schema is corrected, every
//!   call is also checked against the schema, or the registry is refused.
//! - If a value has the wrong type, the reader reports which names the type expects. These names include aliases, which
//!   no schema contains.
//! - If no enclosing schema constrains a value, only the value and the text before it are read, and only the value's
//!   own schema judges it. The whole sample is read and judged only if type and schema then seem to differ. So the cost
//!   is linear in the size of a type, and not quadratic.
//! - The work is limited. For a type that would need more work, every call is checked against the schema.
//! - A type's own rule, such as `try_from`, cannot be examined. A type that refuses a value by its own rule counts as
//!   correct.

use std::collections::HashSet;

use serde_json::Value;

use super::check::Checker;
use super::map_keys::{Correction, correction};
use super::names::{SchemaNames, find_names};
use super::odd;
use super::opening::Openings;
use super::sample::{Place, Sample, samples};
use super::trial::Trial;
use toolwright_core::input::{ExpectedInput, Fault, Rule};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::Probe;

/// Corrects a schema and its definitions. Returns whether the samples show that the type accepts exactly the values
/// that the schema accepts.
pub(super) fn agree(document: &mut Value, read: Probe) -> Result<bool, SchemaProblem> {
    let trial = Trial::new(read);
    // Each correction changes the schema, so the loop ends. For a type that does not always read a value in the same
    // way it might not end, so the trial also limits the work.
    let mut exact = true;
    while !trial.is_spent() {
        let checker = match plain_kind(document) {
            Some(kind) => Validity::Kind(kind),
            None => Validity::Schema(Checker::new(document)?),
        };
        match (Judge { document, checker, trial: &trial, exact }).run()? {
            ProbeOutcome::Agreed { exact } => return Ok(exact),
            ProbeOutcome::Wrong { at, correction } => {
                // Only a few keys of the map were tested, so other keys may still differ.
                exact = false;
                correction.apply(document, &at);
            }
        }
    }
    Ok(false)
}

enum ProbeOutcome {
    Agreed { exact: bool },
    Wrong { at: String, correction: Correction },
}

struct Judge<'a> {
    document: &'a Value,
    checker: Validity,
    trial: &'a Trial,
    exact: bool,
}

/// How the schema's verdict about a value is found.
enum Validity {
    Schema(Checker),
    /// The schema only requires a scalar type. Most parameters have such a schema, and compiling it would cost more
    /// than all other work for them.
    Kind(fn(&Value) -> bool),
}

impl Validity {
    fn is_valid(&self, value: &Value) -> bool {
        match self {
            Self::Schema(checker) => checker.is_valid(value),
            Self::Kind(is_valid) => is_valid(value),
        }
    }
}

/// Returns the check for a scalar type, if the schema is that of a primitive type. The bounds of the schema can be
/// ignored, because all tested values are within them.
fn plain_kind(document: &Value) -> Option<fn(&Value) -> bool> {
    let object = document.as_object()?;
    let is_known = |keyword: &String| ["type", "minimum", "maximum"].contains(&keyword.as_str());
    if !object.keys().all(is_known) {
        return None;
    }
    let includes = |limit: &str, holds: fn(f64) -> bool| {
        object.get(limit).is_none_or(|it| it.as_f64().is_some_and(holds))
    };
    if !includes("minimum", |it| it <= 0.0) || !includes("maximum", |it| it >= 100.0) {
        return None;
    }
    match object.get("type")?.as_str()? {
        "string" => Some(Value::is_string),
        "boolean" => Some(Value::is_boolean),
        "number" => Some(Value::is_number),
        "integer" => Some(|value| value.as_f64().is_some_and(|it| it.fract() == 0.0)),
        _ => None,
    }
}

impl Judge<'_> {
    fn run(mut self) -> Result<ProbeOutcome, SchemaProblem> {
        let made = samples(self.document);
        let count = made.all.len();
        let samples: Vec<Sample> =
            made.all.into_iter().filter(|sample| self.checker.is_valid(&sample.value)).collect();
        // If the samples do not cover a part of the schema, the type is not known to be exact, so every call is checked
        // against the schema.
        self.exact &= made.is_complete && !samples.is_empty() && samples.len() == count;
        for sample in &samples {
            // Keys are checked first, because a wrong key makes every sample of a map invalid.
            for place in &sample.places {
                if let Some(correction) = correction(self.document, self.trial, sample, place)? {
                    return Ok(ProbeOutcome::Wrong { at: place.schema.clone(), correction });
                }
            }
            self.compare(sample, &sample.value, true)?;
            if self.trial.is_spent() {
                return Ok(ProbeOutcome::Agreed { exact: false });
            }
        }
        let mut seen: HashSet<&str> = HashSet::new();
        for sample in &samples {
            let mut openings = None;
            for place in &sample.places {
                if !seen.insert(&place.schema) {
                    continue;
                }
                if self.trial.is_spent() {
                    return Ok(ProbeOutcome::Agreed { exact: false });
                }
                let opening = if place.instance.is_empty() {
                    Some(String::new())
                } else {
                    openings
                        .get_or_insert_with(|| Openings::new(self.document, sample))
                        .before(place)
                };
                self.place(sample, place, opening.as_deref())?;
            }
        }
        Ok(ProbeOutcome::Agreed { exact: self.exact })
    }

    /// Reads the sample with an odd value at one place, for each of the odd values.
    fn place(
        &mut self,
        sample: &Sample,
        place: &Place,
        opening: Option<&str>,
    ) -> Result<(), SchemaProblem> {
        self.names(sample, place, opening)?;
        let verdicts = odd::verdicts(self.document, &place.schema);
        let mut differs = [true; odd::TEXTS.len()];
        if let Some(opening) = opening {
            let mut taken = Vec::new();
            // At the root, a value is a complete input, so the first reading already shows the verdict of the type.
            // Elsewhere, a type may read everything before it refuses anything.
            let mut judges_at_once = place.instance.is_empty();
            for (index, odd) in odd::TEXTS.iter().enumerate() {
                let Some(valid) = verdicts[index] else { continue };
                let takes = self.trial.takes_last(&format!("{opening}{odd}"))?;
                if takes && valid {
                    taken.push(index);
                }
                if !takes {
                    judges_at_once = true;
                    differs[index] = valid;
                }
            }
            if judges_at_once {
                taken.into_iter().for_each(|index| differs[index] = false);
            }
        }
        for (index, odd) in odd::TEXTS.iter().enumerate() {
            // The schema refuses this value. It is already known that every call has to be checked against the schema,
            // so it does not matter whether the type accepts the value.
            let is_settled = verdicts[index] == Some(false) && !self.exact;
            if differs[index] && !is_settled {
                let value = with(sample, place, serde_json::from_str(odd).unwrap_or_default());
                self.compare(sample, &value, false)?;
            }
        }
        Ok(())
    }

    /// Compares the verdicts of the type and the schema about one value.
    fn compare(
        &mut self,
        sample: &Sample,
        value: &Value,
        is_sample: bool,
    ) -> Result<(), SchemaProblem> {
        let valid = self.checker.is_valid(value);
        let text = value.to_string();
        // If a tag comes first, serde reads the content directly, otherwise from a buffer. So both orders of keys are
        // tested.
        let reversed = Some(reverse(value)).filter(|it| *it != text);
        // Making and checking a value costs about three times as much as parsing its text.
        self.trial.spend(3 * text.len());
        for text in std::iter::once(text).chain(reversed) {
            match self.trial.fault(&text)? {
                None => self.exact &= valid,
                Some(fault) if valid => {
                    self.exact = false;
                    if !self.trial.rereads(&text)? {
                        narrower(sample, &fault, is_sample)?;
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Compares the keys or choices that the type expects with those in the schema. If they differ or are unknown, the
    /// schema is not exact.
    fn names(
        &mut self,
        sample: &Sample,
        place: &Place,
        opening: Option<&str>,
    ) -> Result<(), SchemaProblem> {
        if !self.exact {
            return Ok(());
        }
        let Some(named) = find_names(self.document, &place.schema) else { return Ok(()) };
        let asked = |text: &str| {
            let fault = self.trial.fault(text)?;
            let fault = fault.filter(|fault| fault.problem().pointer == place.instance);
            Ok(fault.and_then(|fault| fault.asked()))
        };
        let mut theirs = match opening {
            Some(opening) => asked(&format!("{opening}true"))?,
            None => None,
        };
        if theirs.is_none() {
            theirs = asked(&with(sample, place, Value::Bool(true)).to_string())?;
        }
        let are_same = |ours: &[String], theirs: &[&str]| {
            theirs.iter().all(|name| ours.iter().any(|it| it == name))
        };
        self.exact = match (&named, theirs) {
            (SchemaNames::Fields(ours), Some(ExpectedInput::Fields(theirs))) => {
                are_same(ours, theirs)
            }
            // Not every choice is tested with a sample, so each choice of the schema has to be one that the type
            // expects.
            (SchemaNames::Variants(ours), Some(ExpectedInput::Variants(theirs))) => {
                are_same(ours, theirs) && ours.iter().all(|it| theirs.contains(&it.as_str()))
            }
            _ => false,
        };
        Ok(())
    }
}

/// Reports a type that refuses a value that its schema accepts, unless the type may have refused it by its own rule.
fn narrower(sample: &Sample, fault: &Fault, is_sample: bool) -> Result<(), SchemaProblem> {
    let problem = fault.problem();
    let schema = schema_at(sample, &problem.pointer);
    let is_structural = match problem.rule {
        Rule::Type | Rule::UnknownKey | Rule::MissingKey | Rule::Choice | Rule::Null => true,
        // Serde writes such messages for types that it cannot read from its buffer.
        Rule::Other => {
            is_sample
                && (problem.expected.ends_with("128 is not supported")
                    || problem.expected == "matches none of the forms taken here")
        }
        _ => false,
    };
    if !is_structural {
        return Ok(());
    }
    let message = format!(
        "the schema takes what the type refuses ({problem}); make the attributes of schemars say what those of serde say, or choose a type that serde can read here"
    );
    Err(SchemaProblem::new(schema, message))
}

/// Returns the text of a value with the keys of every object in reverse order.
fn reverse(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(reverse).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let entries: Vec<String> = object
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), reverse(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// Returns the sample with another value at one place.
pub(super) fn with(sample: &Sample, place: &Place, value: Value) -> Value {
    let mut whole = sample.value.clone();
    if let Some(part) = whole.pointer_mut(&place.instance) {
        *part = value;
    }
    whole
}

/// Returns the schema of the innermost part that contains the location `instance`.
fn schema_at<'s>(sample: &'s Sample, instance: &str) -> &'s str {
    let holds = |place: &&Place| {
        instance
            .strip_prefix(&place.instance)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let innermost = sample.places.iter().filter(holds).max_by_key(|place| place.instance.len());
    innermost.map_or("", |place| &place.schema)
}
