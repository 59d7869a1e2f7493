//! Tools that `macro_rules!` produce are what the same tools written out would be, whatever fragment an option comes
//! from.

use serde_json::json;
use toolwright::{Danger, DeclaredApproval, DeclaredDanger, Registry, tool};

macro_rules! lender {
    ($name:ident, $docs:expr, $danger:expr, $why:expr, $length:expr, $default:expr, $example:expr, $most:expr) => {
        #[doc = $docs]
        #[tool(danger = $danger, approval = $why)]
        async fn $name(
            #[doc = $docs]
            #[arg(length = $length, default = $default, example = $example)]
            title: String,
            /// How many.
            #[arg(maximum = $most, default = 1)]
            copies: u8,
        ) -> String {
            format!("{copies} of {title}")
        }
    };
}

lender!(
    lend_by_macro,
    concat!("Lends ", "it."),
    dangerous,
    "a book leaves",
    1..=80,
    "Emma",
    "Persuasion",
    5
);

/// Lends it.
#[tool(danger = dangerous, approval = "a book leaves")]
async fn lend_written_out(
    /// Lends it.
    #[arg(length = 1..=80, default = "Emma", example = "Persuasion")]
    title: String,
    /// How many.
    #[arg(maximum = 5, default = 1)]
    copies: u8,
) -> String {
    format!("{copies} of {title}")
}

#[test]
fn a_fragment_means_what_the_same_words_mean() {
    let registry = Registry::of([LEND_BY_MACRO, LEND_WRITTEN_OUT]).unwrap();
    let [made, written] =
        ["lend_by_macro", "lend_written_out"].map(|name| registry.get(name).unwrap());
    assert_eq!(made.description, "Lends it.");
    assert_eq!(made.danger, DeclaredDanger::Level(Danger::Dangerous));
    assert_eq!(made.approval, DeclaredApproval::Always("a book leaves"));
    assert_eq!(made.input_schema["properties"]["title"]["description"], "Lends it.");
    assert_eq!(made.input_schema["properties"]["title"]["default"], json!("Emma"));
    assert_eq!((&made.danger, &made.approval), (&written.danger, &written.approval));
    assert_eq!(made.input_schema, written.input_schema);
}
