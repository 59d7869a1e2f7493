//! The format of the value in which a run has to end, in the forms in which a model can be asked for such a value.

use serde_json::Value;
use toolwright::Catalog;
use toolwright::dialect::{Dialect, DialectError, Listing};

/// The name of the tool by which a model gives the final value of its run, and of the format for providers that require
/// a name. A call of this tool runs nothing: its arguments are the value.
pub(crate) const FINAL_ANSWER: &str = "final_answer";

/// The format of the value with which a model has to answer. A model is asked for the value in one of two ways. If it
/// [takes formats](crate::Model::takes_format), its provider makes the text of the answer follow the format. Otherwise,
/// the model gets an additional tool whose arguments are the value.
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
    /// The catalog that has only the tool for the value.
    catalog: Catalog,
}

impl OutputFormat {
    /// Makes the format from the catalog with only the tool [`FINAL_ANSWER`].
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self { catalog }
    }

    /// Returns the name of the format for the provider.
    #[must_use]
    pub fn name(&self) -> &str {
        FINAL_ANSWER
    }

    /// Returns the JSON Schema of the value, which is an object.
    #[must_use]
    pub fn schema(&self) -> &Value {
        self.catalog.get(FINAL_ANSWER).map_or(&Value::Null, |it| &it.input_schema)
    }

    /// Returns the tool for the value in a dialect, with the schema adapted to that dialect.
    ///
    /// # Errors
    /// When the provider would refuse the schema. The error lists all reasons with their locations.
    pub fn listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        self.catalog.listing(dialect)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
