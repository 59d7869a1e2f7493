//! The value that the last answer of a run has to be, as a model is asked for it.

use serde_json::Value;
use toolwright::Catalog;
use toolwright::dialect::{Dialect, DialectError, Listing};

/// The tool by which a model gives the value that its run ends in, where it calls one for that, and the name of the value where its
/// provider wants a name. Nothing runs when it is called: the arguments are the value.
pub(crate) const FINAL_ANSWER: &str = "final_answer";

/// The value that a model has to answer with. A model gets it in one of two forms: as a format of the provider that the text of
/// the answer follows ([`Model::takes_format`](crate::Model::takes_format)), or as one more tool, whose arguments are the value.
///
/// ```
/// use toolwright_agent::{Model, OutputFormat};
///
/// fn in_words(format: &OutputFormat) -> String {
///     format!("Answer with JSON of this schema: {}", format.schema())
/// }
/// # let _ = in_words;
/// ```
#[derive(Debug, Clone)]
pub struct OutputFormat {
    /// Of the one tool.
    catalog: Catalog,
}

impl OutputFormat {
    /// Takes the catalog of the tool [`FINAL_ANSWER`] alone.
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self { catalog }
    }

    /// Returns the name by which the provider knows the format.
    #[must_use]
    pub fn name(&self) -> &str {
        FINAL_ANSWER
    }

    /// Returns the JSON Schema of the value, which is an object.
    #[must_use]
    pub fn schema(&self) -> &Value {
        self.catalog.get(FINAL_ANSWER).map_or(&Value::Null, |it| &it.input_schema)
    }

    /// Returns the value as a tool in the form of one provider, whose schema is the one that this provider takes.
    ///
    /// # Errors
    /// When the provider would refuse the schema; every reason at once, each with its place.
    pub fn listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        self.catalog.listing(dialect)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
