//! The object loop: typed slots, every problem at once.

use serde::Deserialize;
use toolwright::__private0::{
    Fault, InvalidKeys, Key, Keys, Problem, Reader, Rule, Slots, absent, fill, read_object,
};

#[derive(Debug, Deserialize, PartialEq)]
struct Filter {
    pattern: String,
    depth: Option<u8>,
}

#[derive(Debug, Default, PartialEq)]
struct Search {
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<Option<u32>>,
    filter: Option<Filter>,
}

impl Slots for Search {
    fn put(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => fill(&mut self.path, reader),
            1 => fill(&mut self.offset, reader),
            2 => fill(&mut self.limit, reader),
            3 => fill(&mut self.filter, reader),
            _ => unreachable!("there are four keys"),
        }
    }
}

fn keys() -> Keys {
    Keys::new([
        Key::required("path", "a string"),
        Key::required("offset", "an integer"),
        Key::optional("limit", "an integer"),
        Key::optional("filter", "an object"),
    ])
    .expect("no key twice")
}

fn problems(text: &str) -> Vec<String> {
    match read_object(text, &keys(), &mut Search::default()) {
        Ok(()) => Vec::new(),
        Err(problems) => problems.iter().map(Problem::to_string).collect(),
    }
}

#[test]
fn keys_are_taken_in_any_order_and_spelling() {
    let expected = Search {
        path: Some("a".to_owned()),
        offset: Some(3),
        limit: Some(Some(5)),
        filter: Some(Filter { pattern: "x".to_owned(), depth: None }),
    };
    let texts = [
        r#"{"path":"a","offset":3,"limit":5,"filter":{"pattern":"x"}}"#,
        r#"{"filter":{"pattern":"x"},"limit":5,"offset":3.0,"path":"a"}"#,
        " {\n\t\"path\" : \"a\" , \"offset\" : 3 , \"limit\" : 5 , \"filter\" : { \"pattern\" : \"x\" } }\r\n",
        r#"{"p\u0061th":"\u0061","offset":3e0,"limit":5,"filter":{"patter\u006e":"x"}}"#,
    ];
    for text in texts {
        let mut search = Search::default();
        read_object(text, &keys(), &mut search).unwrap();
        assert_eq!(search, expected, "{text}");
    }
}

#[test]
fn every_problem_is_told_in_input_order_with_missing_keys_last() {
    let text = r#"{"limit":"ten","pth":[1,{}],"limit":5,"filter":{"pattern":"x","depth":300}}"#;
    assert_eq!(
        problems(text),
        [
            "/limit: found \"ten\", expected an integer",
            "/pth: unknown key, expected one of \"path\", \"offset\", \"limit\", \"filter\"; did you mean \"path\"?",
            "/limit: duplicate key, expected each key once",
            "/filter/depth: found 300, expected an integer from 0 to 255",
            "/path: missing, expected a string",
            "/offset: missing, expected an integer",
        ]
    );
}

#[test]
fn a_key_that_was_refused_is_not_missing() {
    assert_eq!(
        problems(r#"{"path":1,"offset":null,"limit":null}"#),
        [
            "/path: found 1, expected a string",
            "/offset: found null, expected an integer",
            "/limit: found null, expected an integer; leave the key out instead",
        ]
    );
}

#[test]
fn a_syntax_fault_ends_the_scan() {
    assert_eq!(
        problems(r#"{"path":1,"offset":x,"no":1}"#),
        [
            "/path: found 1, expected a string",
            "/offset: found x at byte 19 (line 1, column 20), expected a JSON value",
        ]
    );
    assert_eq!(
        problems(r#"{"path":"a","filter":{"pattern":3,"depth":}}"#),
        [
            "/filter/pattern: found 3, expected a string",
            "input: found } at byte 42 (line 1, column 43), expected a JSON value",
        ]
    );
    assert_eq!(
        problems(r#"{"path":"a","offset":1} x"#),
        ["input: found x at byte 24 (line 1, column 25), expected the end of the text"]
    );
    for text in
        ["", "{", "{\"path\"", "{\"path\":", "{\"path\":\"a\"", "{\"path\":\"a\",}", "{\"path\"x"]
    {
        let problems = read_object(text, &keys(), &mut Search::default()).unwrap_err();
        assert_eq!(problems.len(), 1, "{text}: {problems}");
        assert_eq!(problems[0].rule, Rule::Syntax, "{text}");
    }
}

#[test]
fn only_an_object_is_an_input() {
    assert_eq!(problems("[1]"), ["input: found [1], expected an object"]);
    assert_eq!(problems("null"), ["input: found null, expected an object"]);
    assert_eq!(
        problems("{}"),
        ["/path: missing, expected a string", "/offset: missing, expected an integer"]
    );
}

#[test]
fn a_value_nested_too_deep_ends_the_scan() {
    let text = format!("{{\"path\":{}{}}}", "[".repeat(127), "]".repeat(127));
    let problems = problems(&text);
    let message =
        "/path: found deeper nesting, expected at most 127 arrays and objects in one another";
    assert_eq!(problems, [message]);
}

#[test]
fn an_input_without_keys_takes_an_empty_object() {
    let none = Keys::new([]).unwrap();
    assert!(none.is_empty());
    read_object(" { } ", &none, &mut Search::default()).unwrap();
    let problems = read_object("{\"a\":1}", &none, &mut Search::default()).unwrap_err();
    assert_eq!(problems.to_string(), "/a: unknown key, expected no keys");
}

#[test]
fn the_sixty_fourth_key_works_and_one_more_is_refused() {
    struct Last(Option<u8>);
    impl Slots for Last {
        fn put(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
            assert_eq!(index, 63);
            fill(&mut self.0, reader)
        }
    }
    let key = |index| Key::optional(format!("key{index}"), "an integer");
    let keys = Keys::new((0..63).map(key).chain([Key::required("key63", "an integer")])).unwrap();
    let mut last = Last(None);
    read_object("{\"key63\":7}", &keys, &mut last).unwrap();
    assert_eq!(last.0, Some(7));
    let problems = read_object("{}", &keys, &mut last).unwrap_err();
    assert_eq!(problems.to_string(), "/key63: missing, expected an integer");
    assert_eq!(Keys::new((0..65).map(key)).unwrap_err(), InvalidKeys::TooMany(65));
    assert_eq!(Keys::new([key(1), key(1)]).unwrap_err(), InvalidKeys::Repeated("key1".into()));
}

#[test]
fn a_name_that_json_escapes_is_found_in_every_spelling() {
    let keys = Keys::new([Key::required("a\"\\\n/é", "a string")]).unwrap();
    for text in [r#"{"a\"\\\n/é":"x"}"#, r#"{"\u0061\"\\\u000a\/\u00e9":"x"}"#] {
        let mut search = Search::default();
        read_object(text, &keys, &mut search).unwrap();
        assert_eq!(search.path.as_deref(), Some("x"));
    }
}

#[test]
fn a_check_sees_the_raw_value_and_its_pointers_are_put_under_the_key() {
    let keys = Keys::new([Key::required("path", "a string").checked(|text| {
        let mut problem = Problem::new(Rule::Other, text, "no dots");
        problem.pointer = "/inner".to_owned();
        if text.contains('.') { Err(vec![problem.clone(), problem]) } else { Ok(()) }
    })])
    .unwrap();
    read_object("{\"path\": \"a\" }", &keys, &mut Search::default()).unwrap();
    let problems = read_object("{\"path\": \"a.b\" }", &keys, &mut Search::default()).unwrap_err();
    let line = "/path/inner: found \"a.b\", no dots";
    assert_eq!(problems.to_string(), format!("{line}\n{line}"));
    let problems = read_object("{\"path\":1.5}", &keys, &mut Search::default()).unwrap_err();
    assert_eq!(problems.to_string(), "/path: found 1.5, expected a string");
}

#[test]
fn an_absent_option_is_none_and_everything_else_is_required() {
    type Alias = Option<Filter>;
    assert_eq!(absent::<Alias>(), Some(None));
    assert_eq!(absent::<Option<Option<u8>>>(), Some(None));
    assert_eq!(absent::<u8>(), None);
    assert_eq!(absent::<Vec<u8>>(), None);
    assert_eq!(absent::<()>(), None);
    assert_eq!(absent::<serde_json::Value>(), None);
}

#[test]
fn a_flood_of_problems_is_cut_but_missing_keys_are_still_told() {
    let flood: Vec<_> = (0..100_000).map(|index| format!("\"key{index}\":[{index}]")).collect();
    let text = format!("{{{}}}", flood.join(","));
    let problems = read_object(&text, &keys(), &mut Search::default()).unwrap_err();
    assert_eq!(problems.len(), 102);
    assert_eq!(problems[101].to_string(), "/offset: missing, expected an integer");
}

#[test]
fn a_huge_key_is_shown_cut_short() {
    let text = format!("{{\"{}\":1}}", "k".repeat(1 << 20));
    let problems = read_object(&text, &keys(), &mut Search::default()).unwrap_err();
    assert!(problems[0].found.chars().count() <= 60);
}
