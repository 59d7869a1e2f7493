//! A mended call runs with what was meant; what cannot be meant never runs.

use toolwright::{Answer, Call, Registry, Repair, data, tool};

use crate::support::{builder, executor, kind, strict};

/// Prints pages.
#[tool(effect = read)]
async fn print_pages(
    /// Whether on both sides.
    duplex: bool,
    /// How many copies.
    copies: u64,
    /// What stands below.
    #[arg(alias = "foot", alias = "bottom")]
    footer: Option<String>,
    /// Which pages.
    #[arg(default)]
    pages: Vec<u32>,
) -> String {
    format!("{duplex} {copies} {footer:?} {pages:?}")
}

async fn printed(arguments: &str) -> Answer {
    executor([PRINT_PAGES]).call(&Call::new("print_pages", arguments)).await
}

async fn text(arguments: &str) -> String {
    printed(arguments).await.into_text()
}

/// S1.47: a text that says true or false becomes the boolean that the schema asks for.
/// S1.49: models that send `"true"` for `true` are understood.
#[tokio::test]
async fn a_text_becomes_the_boolean_that_is_asked_for() {
    for (sent, meant) in [
        (r#""true""#, "true"),
        (r#""false""#, "false"),
        (r#""1""#, "true"),
        (r#""0""#, "false"),
        (r#"" True ""#, "true"),
    ] {
        let arguments = format!(r#"{{"duplex":{sent},"copies":1}}"#);
        assert_eq!(text(&arguments).await, format!("{meant} 1 None []"), "{sent}");
    }
    for junk in [r#""maybe""#, r#""""#, "1", "2", "[]", "null"] {
        let answer = printed(&format!(r#"{{"duplex":{junk},"copies":1}}"#)).await;
        assert_eq!(kind(&answer), "invalid_input", "{junk}");
    }
}

/// S1.48: numbers and booleans become text where the schema asks for text.
#[tokio::test]
async fn a_number_or_a_boolean_becomes_the_text_that_is_asked_for() {
    for (sent, meant) in
        [("7", "7"), ("true", "true"), ("2.50", "2.50"), ("9007199254740993", "9007199254740993")]
    {
        let arguments = format!(r#"{{"duplex":true,"copies":1,"footer":{sent}}}"#);
        assert_eq!(text(&arguments).await, format!("true 1 Some({meant:?}) []"), "{sent}");
    }
}

#[tokio::test]
async fn digits_survive_and_junk_is_no_number() {
    let copies = |copies: &str| format!(r#"{{"duplex":true,"copies":{copies}}}"#);
    let max = u64::MAX.to_string();
    assert_eq!(text(&copies(&format!("\"{max}\""))).await, format!("true {max} None []"));
    for junk in [r#""abc""#, r#""17.32""#, r#""""#, r#""18446744073709551616""#, "17.32", "{}"] {
        assert_eq!(kind(&printed(&copies(junk)).await), "invalid_input", "{junk}");
    }
}

#[tokio::test]
async fn keys_wrappers_fences_and_lists_in_quotes_are_read_as_they_were_meant() {
    for arguments in [
        r#"{"Duplex":"true","COPIES":"2","foot":"x","pages":"[1, 2]"}"#,
        r#"{"arguments":{"duplex":true,"copies":2,"bottom":"x","pages":["1","2"]}}"#,
        "Here you are:\n```json\n{'duplex': True, 'copies': 2, 'footer': 'x', 'pages': (1, 2)}\n```",
        r#"print_pages(duplex=True, copies=2, footer="x", pages=[1, 2])"#,
        "{\"duplex\": true, \"copies\": 2, // twice\n \"footer\": \"x\", \"pages\": [1, 2],}",
    ] {
        assert_eq!(text(arguments).await, r#"true 2 Some("x") [1, 2]"#, "{arguments}");
    }
    let null = r#"{"duplex":true,"copies":2,"footer":null,"pages":""}"#;
    assert_eq!(text(null).await, "true 2 None []");
}

/// S0.79: untrusted input is held to the schema before anything runs, and what is malformed is a clear answer.
/// S3.14: what arrives is read by the schema first.
/// S3.15: the function gets what came of that, and nothing else.
#[tokio::test]
async fn what_is_malformed_has_a_clear_answer_and_never_reaches_the_function() {
    let executor = executor([PRINT_PAGES]);
    for (arguments, words) in [
        ("I would rather not.", "found I would rather not., expected a JSON object"),
        ("[1,2", "expected"),
        (r#"{"duplex":true}"#, "/copies: missing, expected an integer"),
        (r#"{"duplex":true,"copies":-1}"#, "/copies: found -1, expected an integer of at least 0"),
        (r#"{"duplex":{},"copies":1}"#, "/duplex: found {}, expected true or false"),
        (
            r#"{"duplex":true,"copies":1,"copies":2}"#,
            "/copies: duplicate key, expected each key once",
        ),
        ("\u{0}", "expected a JSON object"),
    ] {
        let answer = executor.call(&Call::new("print_pages", arguments)).await;
        assert_eq!(kind(&answer), "invalid_input", "{arguments}");
        let message = answer.error().unwrap().message();
        assert!(message.contains(words), "{arguments}: {message}");
    }
    let sound = executor.call(&Call::new("print_pages", r#"{"duplex":"1","copies":"3"}"#)).await;
    assert_eq!(sound.text(), "true 3 None []");
}

/// A port that only its own type knows.
#[data]
#[serde(try_from = "u16")]
#[derive(Clone, Copy)]
struct Port(u16);

impl TryFrom<u16> for Port {
    type Error = String;

    fn try_from(port: u16) -> Result<Self, String> {
        if port.is_multiple_of(2) { Ok(Self(port)) } else { Err(format!("port {port} is odd")) }
    }
}

/// Opens a port.
#[tool(effect = read)]
async fn open_port(
    /// Which.
    port: Port,
) -> u16 {
    port.0
}

#[tokio::test]
async fn what_the_type_refuses_beyond_its_schema_ends_with_its_own_words() {
    let executor = executor([OPEN_PORT]);
    assert_eq!(executor.call(&Call::new("open_port", r#"{"port":"8080"}"#)).await.text(), "8080");
    for sent in ["8081", "\"8081\""] {
        let arguments = format!(r#"{{"port":{sent}}}"#);
        let answer = executor.call(&Call::new("open_port", arguments)).await;
        assert_eq!(kind(&answer), "invalid_input", "{sent}");
        let message = answer.error().unwrap().message();
        assert!(message.contains("/port: ") && message.contains("port 8081 is odd"), "{message}");
    }
}

#[tokio::test]
async fn what_the_strict_reader_takes_is_never_mended() {
    let arguments = r#" { "copies" : 2.0 , "duplex" : true , "footer" : "7" } "#;
    for executor in [executor([PRINT_PAGES]), strict([PRINT_PAGES])] {
        let answer = executor.call(&Call::new("print_pages", arguments)).await;
        assert_eq!(answer.text(), r#"true 2 Some("7") []"#);
        assert!(answer.repairs().is_none());
    }
}

#[test]
fn a_tool_says_how_far_its_input_is_mended() {
    let registry = Registry::of([PRINT_PAGES]).unwrap();
    assert_eq!(registry.get("print_pages").unwrap().repair, None);
    let executor = builder([PRINT_PAGES]).repair(Repair::Lenient).build().unwrap();
    let call = Call::new("print_pages", r#"{"duplx":"on","copies":1}"#);
    assert!(executor.examine(&call).unwrap().repairs().unwrap().is_lenient());
}
