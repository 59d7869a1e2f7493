//! Wrong input for a tagged enum: the tag is named with those that there are, and not the whole value.

use toolwright::{Call, tool};

use crate::support::executor;

/// A part of an order.
#[toolwright::data]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Part {
    /// Loose tea.
    Tea {
        /// Its weight.
        grams: u32,
    },
    /// A cup.
    Cup {
        /// Its size.
        size: u8,
    },
}

/// Orders a part.
#[tool(effect = read)]
async fn order_part(
    /// The part.
    part: Part,
    /// Another one.
    other: Option<Box<Part>>,
) {
    let _ = (part, other);
}

#[tokio::test]
async fn a_wrong_tag_is_named_with_the_tags_that_there_are() {
    let executor = executor([ORDER_PART]);
    for (input, problem) in [
        (
            r#"{"part":{"kind":"te","grams":1}}"#,
            r#"/part/kind: found \"te\", expected one of \"tea\", \"cup\"; did you mean \"tea\"?"#,
        ),
        (r#"{"part":{"grams":1}}"#, r#"/part/kind: missing, expected one of \"tea\", \"cup\""#),
        (r#"{"part":{"kind":7}}"#, r#"/part/kind: found 7, expected one of \"tea\", \"cup\""#),
        (
            r#"{"part":{"kind":"cup","size":300}}"#,
            "/part/size: found 300, expected an integer from 0 to 255",
        ),
        (
            r#"{"part":{"kind":"cup","size":3},"other":{"kind":"cupp","size":1}}"#,
            r#"/other/kind: found \"cupp\", expected one of \"tea\", \"cup\"; did you mean \"cup\"?"#,
        ),
    ] {
        let answer = executor.call(&Call::new("order_part", input)).await.text().into_owned();
        assert!(answer.contains(&format!(r"\n{problem}")), "{input}: {answer}");
    }
}
