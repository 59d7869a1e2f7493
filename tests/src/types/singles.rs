//! An `f32` counts as the shortest decimal that is read as it, in the schema and where it is read.

use serde_json::json;
use toolwright::{Call, data, tool};

use crate::support::{kind, strict};

const LOW: f32 = 0.1;
const HIGH: f32 = 0.7;

/// Where a colour lies.
#[data]
struct Mix {
    red: f32,
    blue: Vec<f32>,
}

/// Mixes colours.
#[tool(effect = read)]
async fn mix_colours(
    /// From a literal.
    #[arg(minimum = 0.7, default = 0.7, example = 0.9)]
    red: f32,
    /// Between constants.
    #[arg(minimum = LOW, maximum = HIGH, default = LOW, example = HIGH)]
    green: f32,
    /// As far as the type goes.
    #[arg(default = f32::MAX, minimum = f32::MIN, maximum = f32::MAX)]
    blue: f32,
    /// Without an end.
    #[arg(maximum = f32::INFINITY)]
    alpha: Option<f32>,
    /// Of several.
    #[arg(default = Mix { red: 0.3, blue: vec![0.1, 1.0] })]
    mix: Mix,
) -> String {
    format!("{red} {green} {} {alpha:?} {} {:?}", blue == f32::MAX, mix.red, mix.blue)
}

#[test]
fn a_model_is_shown_the_shortest_decimal() {
    let executor = strict([MIX_COLOURS]);
    let definition = executor.registry().get("mix_colours").unwrap();
    let properties = &definition.input_schema["properties"];
    assert_eq!(
        properties["green"],
        json!({
            "type": "number", "description": "Between constants.", "minimum": 0.1, "maximum": 0.7,
            "default": 0.1, "examples": [0.7],
        })
    );
    assert_eq!(
        (&properties["red"]["default"], &properties["red"]["examples"][0]),
        (&json!(0.7), &json!(0.9))
    );
    assert_eq!(properties["mix"]["default"], json!({"red": 0.3, "blue": [0.1, 1.0]}));
    assert_eq!(properties["blue"]["default"], properties["blue"]["maximum"]);
    assert_eq!(properties["alpha"]["maximum"], json!(f32::MAX));
}

#[tokio::test]
async fn a_limit_is_within_itself_and_what_is_beyond_it_is_told_in_the_same_decimals() {
    let executor = strict([MIX_COLOURS]);
    let call = async |green: &str| {
        let arguments = format!(r#"{{"green":{green}}}"#);
        executor.call(&Call::new("mix_colours", arguments)).await
    };
    assert_eq!(call("0.1").await.text(), "0.7 0.1 true None 0.3 [0.1, 1.0]");
    assert_eq!(kind(&call("0.7").await), "ok");
    for beyond in ["0.09999", "0.70001"] {
        let answer = call(beyond).await;
        assert!(answer.text().contains("expected a number from 0.1 to 0.7"), "{}", answer.text());
    }
}
