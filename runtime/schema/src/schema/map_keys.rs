//! Determines which keys a map accepts. The schema of a map often does not constrain its keys although the type does.

use serde_json::{Value, json};

use super::key_range;
use super::odd::ODD;
use super::probe::with;
use super::sample::{Place, Sample};
use super::trial::Trial;
use toolwright_core::input::{ExpectedInput, Fault};
use toolwright_core::json::pointer::below;
use toolwright_core::schema::SchemaProblem;

/// A constraint that has to be added to the schema of a map.
pub(super) enum Correction {
    /// A schema for the keys of a map.
    Keys(Value),
    /// The keys of a map are integers, and match this pattern.
    IntegerKeys(String),
}

/// Formats of keys, each with a sample key that no other of these formats accepts.
const FORMATS: &[(&str, &str)] = &[
    ("uuid", "6a2f41a3-c54c-fce8-32d2-0324e1c32e22"),
    ("date-time", "2020-01-02T03:04:05Z"),
    ("date", "2020-01-02"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.org/"),
];

/// Returns the constraint that the schema of a map lacks, at one place of a sample; `None` if no constraint is missing.
pub(super) fn correction(
    document: &Value,
    trial: &Trial,
    sample: &Sample,
    place: &Place,
) -> Result<Option<Correction>, SchemaProblem> {
    let Some(Value::Object(schema)) = document.pointer(&place.schema) else { return Ok(None) };
    let is_map = |keyword: &str| schema.get(keyword).is_some_and(|it| *it != false);
    if !is_map("additionalProperties") && !is_map("patternProperties") {
        return Ok(None);
    }
    if schema.contains_key("propertyNames") {
        return Ok(None);
    }
    let Some(Value::Object(object)) = sample.value.pointer(&place.instance) else {
        return Ok(None);
    };
    let any = object.values().next_back().cloned().unwrap_or_default();
    let fault_of = |key: &str| {
        let value = with(sample, place, json!({key: any}));
        // A wrong value is reported at the same place, but only a fault of the key quotes the key.
        let is_of_key = |it: &Fault| {
            let problem = it.problem();
            problem.pointer == below(&place.instance, key) && problem.found.trim_matches('"') == key
        };
        Ok(trial.fault(&value.to_string())?.filter(is_of_key))
    };
    let Some(refused) = fault_of(ODD)? else { return Ok(None) };
    Ok(match refused.asked() {
        Some(ExpectedInput::IntegerKey(minimum, maximum)) => {
            let pattern = key_range::pattern(minimum, maximum, fault_of("0")?.is_none());
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let is_said = patterns.is_some_and(|it| it.contains_key(&pattern));
            (!is_said).then_some(Correction::IntegerKeys(pattern))
        }
        Some(ExpectedInput::Variants(names)) if is_map("additionalProperties") => {
            Some(Correction::Keys(json!({"enum": names})))
        }
        Some(ExpectedInput::CharKey) => {
            Some(Correction::Keys(json!({"minLength": 1, "maxLength": 1})))
        }
        _ if is_map("additionalProperties") && schema.get("properties").is_none() => {
            for (format, key) in FORMATS {
                if fault_of(key)?.is_none() {
                    return Ok(Some(Correction::Keys(json!({"format": format}))));
                }
            }
            // No format fits. Either the sample itself was refused, or its key is accepted for another reason.
            None
        }
        _ => None,
    })
}

impl Correction {
    pub(super) fn apply(self, document: &mut Value, at: &str) {
        let Some(schema) = document.pointer_mut(at) else { return };
        match self {
            Self::Keys(names) => schema["propertyNames"] = names,
            Self::IntegerKeys(pattern) => {
                let values = schema
                    .get("patternProperties")
                    .and_then(Value::as_object)
                    .and_then(|it| it.values().next())
                    .or_else(|| schema.get("additionalProperties"))
                    .cloned()
                    .unwrap_or(Value::Bool(true));
                schema["patternProperties"] = json!({pattern: values});
                schema["additionalProperties"] = Value::Bool(false);
            }
        }
    }
}
