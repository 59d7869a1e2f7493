//! Estimates how often a validator examines one value with parts of a schema. References that fan out can make this
//! number grow exponentially with the size of the schema.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::foreign::keywords;

/// Computes the efforts of the schemas of one document. It recurses along references, so their levels have to be limited
/// before, and a definition must not refer to itself without a step into a value.
pub(crate) struct Efforts<'d> {
    definitions: BTreeMap<&'d str, &'d Value>,
    /// The efforts of definitions, of which only the part for the value itself was counted.
    in_place: BTreeMap<&'d str, usize>,
    /// The efforts of definitions; `None` while a definition is being examined.
    whole: BTreeMap<&'d str, Option<usize>>,
}

/// What a schema and its subschemas cost: for a value, and for that part of the value which costs most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    InPlace,
    Whole,
}

impl<'d> Efforts<'d> {
    pub(crate) fn of(definitions: impl IntoIterator<Item = (&'d String, &'d Value)>) -> Self {
        let definitions = definitions.into_iter().map(|(name, it)| (name.as_str(), it)).collect();
        Self { definitions, in_place: BTreeMap::new(), whole: BTreeMap::new() }
    }

    /// Returns an upper bound of how many schemas examine a value or one of its parts.
    pub(crate) fn estimate(&mut self, schema: &'d Value) -> usize {
        self.schema(schema, Extent::Whole)
    }

    fn schema(&mut self, schema: &'d Value, extent: Extent) -> usize {
        let mut in_place: usize = 0;
        let mut parts = Parts::default();
        keywords::parts(schema, &mut |keyword, part| {
            if keywords::is_in_place(keyword) {
                in_place = in_place.saturating_add(self.schema(part, extent));
            } else if extent == Extent::Whole {
                parts.add(keyword, self.schema(part, extent));
            }
        });
        if let Some(name) = keywords::target(schema) {
            in_place = in_place.saturating_add(self.definition(name, extent));
        }
        // The validator examines the subschemas a second time to find out which parts they evaluate.
        let is_tracked =
            ["unevaluatedProperties", "unevaluatedItems"].iter().any(|it| schema.get(it).is_some());
        let times = if is_tracked { 2 } else { 1 };
        in_place.saturating_mul(times).saturating_add(parts.most()).saturating_add(1)
    }

    fn definition(&mut self, name: &'d str, extent: Extent) -> usize {
        let Some(&definition) = self.definitions.get(name) else { return 1 };
        if extent == Extent::InPlace {
            if let Some(known) = self.in_place.get(name) {
                return *known;
            }
            let effort = self.schema(definition, extent);
            self.in_place.insert(name, effort);
            return effort;
        }
        match self.whole.get(name).copied() {
            Some(Some(known)) => known,
            // The validator remembers which arrays and objects it has examined with a recursive definition.
            Some(None) => self.definition(name, Extent::InPlace),
            None => {
                self.whole.insert(name, None);
                let effort = self.schema(definition, extent);
                self.whole.insert(name, Some(effort));
                effort
            }
        }
    }
}

/// The efforts for the parts of a value.
#[derive(Default)]
struct Parts {
    /// The largest effort among the keywords of which only one applies to a part.
    one_of: usize,
    /// The sum of the efforts of the keywords that apply to a part in addition.
    all_of: usize,
}

impl Parts {
    fn add(&mut self, keyword: &str, effort: usize) {
        match keyword {
            "patternProperties" | "contains" | "unevaluatedProperties" | "unevaluatedItems" => {
                self.all_of = self.all_of.saturating_add(effort);
            }
            // This keyword describes the content of a text, and is not checked.
            "contentSchema" => {}
            _ => self.one_of = self.one_of.max(effort),
        }
    }

    fn most(&self) -> usize {
        self.one_of.saturating_add(self.all_of)
    }
}
