//! What is mended and what is not, kind by kind.

use serde_json::{Value, json};

use toolwright::Repair;
use toolwright::unstable::repair::TruncatedInput;

use super::{closed, lenient, repair_at, standard};

/// A closed object with one optional key `v`.
fn one(schema: Value) -> Value {
    json!({"type": "object", "properties": {"v": schema}, "additionalProperties": false})
}

fn table(schema: &Value, rows: &[(&str, &str)]) {
    for (sent, read) in rows {
        let sent = format!("{{\"v\":{sent}}}");
        let read =
            if *read == "refused" { (*read).to_owned() } else { format!("{{\"v\":{read}}}") };
        assert_eq!(standard(schema, &sent), read, "{sent}");
    }
}

#[test]
fn a_boolean_is_read_from_few_words() {
    let rows = [
        ("\"true\"", "true"),
        ("\" No \"", "false"),
        ("\"1\"", "true"),
        ("\"on\"", "refused"),
        ("1", "refused"),
        ("\"\\\"true\\\"\"", "refused"),
        ("[]", "refused"),
        ("{}", "refused"),
    ];
    table(&one(json!({"type": "boolean"})), &rows);
    assert_eq!(lenient(&one(json!({"type": "boolean"})), r#"{"v":"off"}"#), r#"{"v":false}"#);
    assert_eq!(lenient(&one(json!({"type": "boolean"})), r#"{"v":1}"#), r#"{"v":true}"#);
}

#[test]
fn a_number_is_read_from_its_digits() {
    let rows = [
        ("\"42\"", "42"),
        ("\"9007199254740993\"", "9007199254740993"),
        ("\"123456789012345678901234567890\"", "123456789012345678901234567890"),
        ("2.0", "2.0"),
        ("\"1e3\"", "1e3"),
        ("\"17.32\"", "refused"),
        ("17.32", "refused"),
        ("\"abc\"", "refused"),
        ("\"1,000\"", "refused"),
        ("true", "refused"),
    ];
    table(&one(json!({"type": "integer"})), &rows);
    let rows = [("\"3.5\"", "3.5"), ("\"-1e-7\"", "-1e-7"), ("\"three\"", "refused")];
    table(&one(json!({"type": "number"})), &rows);
    let bounded = one(json!({"type": "integer", "minimum": 1, "maximum": 10}));
    table(&bounded, &[("\"10\"", "10"), ("\"11\"", "refused"), ("\"0\"", "refused")]);
    assert_eq!(lenient(&one(json!({"type": "integer"})), r#"{"v":"1,000"}"#), r#"{"v":1000}"#);
}

#[test]
fn a_text_is_made_of_a_scalar() {
    let rows = [
        ("42", "\"42\""),
        ("5.10", "\"5.10\""),
        ("9007199254740993", "\"9007199254740993\""),
        ("true", "\"true\""),
        ("\"{\\\"a\\\":1}\"", "\"{\\\"a\\\":1}\""),
        ("[\"a\"]", "refused"),
        ("{}", "refused"),
    ];
    table(&one(json!({"type": "string"})), &rows);
    let lines = one(json!({"type": "string"}));
    assert_eq!(lenient(&lines, r#"{"v":["a",1]}"#), r#"{"v":"a\n1"}"#);
}

#[test]
fn a_text_that_holds_an_array_or_object_is_read() {
    let array = one(json!({"type": "array", "items": {"type": "integer"}}));
    let rows = [
        ("\"[1,2]\"", "[1,2]"),
        ("\"[\\\"1\\\",2]\"", "[1,2]"),
        (r#""\"[1, 2]\"""#, "[1,2]"),
        ("\"(1, 2)\"", "[1,2]"),
        ("\"[1,2\"", "refused"),
        ("\"[1.5]\"", "refused"),
        ("[\"[1]\"]", "refused"),
    ];
    table(&array, &rows);
    let object = one(json!({
        "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
        "additionalProperties": false,
    }));
    let rows = [
        (r#""{\"a\":1}""#, r#"{"a":1}"#),
        (r#""{\"a\":\"1\"}""#, r#"{"a":1}"#),
        (r#""{'a': 1,}""#, r#"{"a":1}"#),
        (r#""{\"a\":1,\"a\":1}""#, "refused"),
        ("\"unknown\"", "refused"),
    ];
    table(&object, &rows);
}

#[test]
fn a_value_becomes_the_array_of_it() {
    let rows = [
        ("\"a\"", "[\"a\"]"),
        ("5", "[\"5\"]"),
        ("\"[\\\"a\\\"]\"", "[\"a\"]"),
        ("\"verbose\"", "[\"verbose\"]"),
        ("\"two words\"", "[\"two words\"]"),
        // Either the list of 1 or the text `[1]`.
        ("\"[1]\"", "refused"),
        ("{}", "refused"),
    ];
    table(&one(json!({"type": "array", "items": {"type": "string"}})), &rows);
    let nested =
        one(json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}));
    table(&nested, &[("1", "refused"), ("\"[[1]]\"", "[[1]]"), ("[1]", "[[1]]")]);
}

#[test]
fn a_text_that_is_a_list_itself_is_refused_with_the_corrected_example() {
    let schema = one(json!({"type": "array", "items": {"type": "string"}}));
    for (sent, example) in [
        ("-v, -p", json!(["-v", "-p"])),
        ("[-v, -p]", json!(["-v", "-p"])),
        ("a,b", json!(["a", "b"])),
        ("a; b", json!(["a", "b"])),
        ("- a\n- b", json!(["a", "b"])),
        ("[1]", json!(["1"])),
        ("[{\"id\": 1}, {\"id\": 2}]", json!(["{\"id\":1}", "{\"id\":2}"])),
        ("{\"id\": 1}", json!(["{\"id\": 1}"])),
    ] {
        let text = json!({"v": sent}).to_string();
        for level in [Repair::Standard, Repair::Lenient] {
            let refused = repair_at(&schema, &text, level, TruncatedInput::Refused);
            let refusal = refused.expect_err(sent);
            let shown = refusal.example.map(|it| serde_json::from_str::<Value>(&it).unwrap());
            assert_eq!(shown, Some(json!({"v": example})), "{sent}");
        }
    }
}

#[test]
fn a_text_that_is_an_object_is_the_one_item_of_an_array_of_objects() {
    let item =
        json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    let rows = [
        (r#""{\"id\": 1}""#, r#"[{"id":1}]"#),
        (r#""[{\"id\": 1}, {\"id\": 2}]""#, r#"[{"id":1},{"id":2}]"#),
        ("\"{id, name}\"", "refused"),
    ];
    table(&one(json!({"type": "array", "items": item})), &rows);
}

#[test]
fn grouped_digits_are_no_item_of_an_array() {
    let schema = one(json!({"type": "array", "items": {"type": "integer"}}));
    assert_eq!(lenient(&schema, r#"{"v":"1,000"}"#), "refused");
    assert_eq!(lenient(&schema, r#"{"v":"1000"}"#), r#"{"v":[1000]}"#);
}

#[test]
fn nothing_given_for_an_optional_key_is_absent() {
    let schema = one(json!({"type": "integer"}));
    for sent in [r#"{"v":null}"#, r#"{"v":""}"#] {
        assert_eq!(standard(&schema, sent), "{}");
    }
    let text = one(json!({"type": "string"}));
    assert_eq!(standard(&text, r#"{"v":""}"#), r#"{"v":""}"#);
    assert_eq!(standard(&text, r#"{"v":null}"#), "{}");
    let mut required = schema.clone();
    required["required"] = json!(["v"]);
    for sent in [r#"{"v":null}"#, r#"{"v":""}"#, "{}", "", "null"] {
        assert_eq!(standard(&required, sent), "refused", "{sent}");
    }
    for sent in ["", "  \n", "null", "\"\"", "None"] {
        assert_eq!(standard(&schema, sent), "{}", "{sent:?}");
    }
}

#[test]
fn a_key_is_found_by_its_spelling() {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"file_path": {"type": "string"}, "maxItems": {"type": "integer"}},
        "required": ["file_path"],
    });
    for key in ["filePath", "FilePath", "file-path", "FILE_PATH", "File Path", "filepath"] {
        let sent = format!(r#"{{"{key}":"a"}}"#);
        assert_eq!(standard(&schema, &sent), r#"{"file_path":"a"}"#);
    }
    assert_eq!(
        standard(&schema, r#"{"file-path":"a","max_items":"3"}"#),
        r#"{"file_path":"a","maxItems":3}"#
    );
    for sent in [
        r#"{"filePath":"a","file_path":"b"}"#,
        r#"{"filePath":"a","FilePath":"a"}"#,
        r#"{"fil_path":"a"}"#,
        r#"{"file_path":"a","max":1}"#,
        r#"{"file_path":"a","file_path":"a"}"#,
    ] {
        assert_eq!(standard(&schema, sent), "refused", "{sent}");
    }
    assert_eq!(lenient(&schema, r#"{"fil_path":"a"}"#), r#"{"file_path":"a"}"#);
}

#[test]
fn an_open_object_keeps_the_keys_that_it_takes() {
    let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
    assert_eq!(standard(&schema, r#"{"Limit":"3"}"#), r#"{"Limit":"3"}"#);
    let mut two = schema.clone();
    two["properties"]["all"] = json!({"type": "boolean"});
    assert_eq!(standard(&two, r#"{"Limit":"3","all":"yes"}"#), r#"{"Limit":"3","all":true}"#);
    let schema = json!({
        "type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"],
    });
    assert_eq!(standard(&schema, r#"{"Limit":"3"}"#), r#"{"limit":3}"#);
}

#[test]
fn a_choice_is_found_by_its_spelling() {
    let rows = [
        ("\"by name\"", "\"by_name\""),
        ("\"BY-NAME \"", "\"by_name\""),
        ("\"byname\"", "\"by_name\""),
        ("\"c\"", "refused"),
        ("\"by_nme\"", "refused"),
        ("1", "refused"),
    ];
    let schema = one(json!({"enum": ["by_name", "C++", "C#"]}));
    table(&schema, &rows);
    assert_eq!(lenient(&schema, r#"{"v":"by_nme"}"#), r#"{"v":"by_name"}"#);
    let constants = one(json!({"oneOf": [{"const": "by_name"}, {"const": "byDate"}]}));
    table(&constants, &[("\"byName\"", "\"by_name\""), ("\"By Date\"", "\"byDate\"")]);
}

#[test]
fn a_union_is_mended_where_one_way_is_left() {
    let either = one(json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}));
    table(&either, &[("\"42\"", "42"), ("\"yes\"", "true"), ("\"1\"", "refused")]);
    let types = one(json!({"type": ["integer", "boolean"]}));
    table(&types, &[("\"42\"", "42"), ("\"1\"", "refused")]);
    let text = one(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    table(&text, &[("\"42\"", "\"42\""), ("true", "\"true\"")]);
    let shapes = one(json!({"oneOf": [
        {
            "type": "object", "additionalProperties": false, "required": ["kind", "radius"],
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
        },
        {
            "type": "object", "additionalProperties": false, "required": ["kind", "side"],
            "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
        },
    ]}));
    let rows = [
        (r#"{"kind":"Circle","radius":"2"}"#, r#"{"kind":"circle","radius":2}"#),
        (r#"{"kind":"square","Side":2}"#, r#"{"kind":"square","side":2}"#),
        (r#"{"kind":"square","radius":2}"#, "refused"),
        (r#"{"side":2}"#, "refused"),
    ];
    table(&shapes, &rows);
}

#[test]
fn a_schema_that_holds_itself_is_followed() {
    let schema = json!({
        "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"],
        "additionalProperties": false,
        "$defs": {"node": {
            "type": "object", "additionalProperties": false, "required": ["size"],
            "properties": {
                "size": {"type": "integer"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }},
    });
    assert_eq!(
        standard(&schema, r#"{"root":{"size":"1","parts":{"Size":"2","parts":"[{\"size\":3}]"}}}"#),
        r#"{"root":{"size":1,"parts":[{"size":2,"parts":[{"size":3}]}]}}"#
    );
}

#[test]
fn an_object_of_parts_is_known_by_all_its_keys() {
    let schema = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
        "unevaluatedProperties": false,
        "oneOf": [
            {"type": "object", "properties": {"page_size": {"type": "integer"}}, "required": ["page_size"]},
            {"type": "object", "properties": {"all": {"type": "boolean"}}, "required": ["all"]},
        ],
    });
    assert_eq!(standard(&schema, r#"{"Name":1,"pageSize":"2"}"#), r#"{"name":"1","page_size":2}"#);
    assert_eq!(standard(&schema, r#"{"name":"a","all":"yes"}"#), r#"{"name":"a","all":true}"#);
}

#[test]
fn a_wrapper_is_taken_off() {
    let schema = json!({
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
        "additionalProperties": false,
    });
    for sent in [
        r#"{"arguments":{"path":"a"}}"#,
        r#"{"input":{"path":"a"}}"#,
        r#"{"parameters":{"Path":"a"}}"#,
        r#"{"type":"object","properties":{"path":"a"}}"#,
        r#"{"arguments":"{\"path\":\"a\"}"}"#,
        r#"{"name":"read","arguments":{"path":"a"}}"#,
        r#"{"type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}"#,
        r#"{"arguments":{"input":{"path":"a"}}}"#,
        r#"{"arguments":"{\"input\":{\"path\":\"a\"}}"}"#,
    ] {
        assert_eq!(standard(&schema, sent), r#"{"path":"a"}"#, "{sent}");
    }
    for sent in [
        r#"{"arguments":{"path":"a"},"path":"b"}"#,
        r#"{"arguments":{"path":"a"},"input":{"path":"a"}}"#,
        r#"{"arguments":{"path":"a"},"limit":1}"#,
        r#"{"data":{"path":"a"}}"#,
    ] {
        assert_eq!(standard(&schema, sent), "refused", "{sent}");
    }
}

#[test]
fn a_text_that_is_not_json_is_read_where_it_has_one_reading() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}, "all": {"type": "boolean"},
            "span": {"type": "array", "items": {"type": "integer"}},
        },
    });
    let whole = r#"{"path":"a","limit":3}"#;
    for sent in [
        "{'path': 'a', 'limit': 3}",
        "{\"path\": \"a\", \"limit\": 3,}",
        "{path: 'a', limit: 3}",
        "{\"path\": \"a\", // where\n \"limit\": 3 /* lines */}",
        "```json\n{\"path\": \"a\", \"limit\": 3}\n```",
        "```\n{\"path\": \"a\", \"limit\": 3}```",
        "Here is the call:\n\n{\"path\": \"a\", \"limit\": 3}\n\nI hope it helps.",
        "Here you are:\n```json\n{\"path\": \"a\", \"limit\": \"3\"}\n```\nDone.",
        "read_file(path=\"a\", limit=3)",
        "[read_file(path='a', limit=3)]",
        "tools.read_file( path = 'a' , limit = 3, );",
        "read_file({\"path\": \"a\", \"limit\": 3})",
        "I will read it: read_file(path=\"a\", limit=3)\nThat is all.",
        "read_file(path=\"a\", limit=3)\nread_file(path='a', limit=3)",
        "<tool_call>{path: 'a', limit: 3}</tool_call>\n<tool_call>{path: 'a', limit: 3}</tool_call>",
        "{\"path\": \"a\", \"limit\": 3}{\"path\": \"a\", \"limit\": 3}",
        "{\"path\": \"a\", \"limit\": 3}\n{\"path\":\"a\",\"limit\":3}",
        "<tool_call>\n{\"path\": \"a\", \"limit\": 3}\n</tool_call>",
        "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\", \"limit\": 3}}</tool_call>",
        "Sure. <tool_call>```json\n{\"path\": \"a\", \"limit\": 3}\n```",
        "{“path”: “a”, “limit”: 3}",
        "\u{feff}{\"path\": \"a\", \"limit\": 3}",
        "arguments = {\"path\": \"a\", \"limit\": 3}",
    ] {
        assert_eq!(standard(&schema, sent), whole, "{sent}");
    }
    for (sent, read) in [
        ("{'path': 'a', 'all': True}", r#"{"path":"a","all":true}"#),
        ("{'path': 'a', 'limit': None}", r#"{"path":"a"}"#),
        ("{'path': 'a', 'span': (1, 2)}", r#"{"path":"a","span":[1,2]}"#),
        ("{'path': \"it's\"}", r#"{"path":"it's"}"#),
        (r"{'path': 'it\'s \x41'}", r#"{"path":"it's A"}"#),
        ("{\"path\": \"a\nb\tc\"}", r#"{"path":"a\nb\tc"}"#),
        ("{path: \"“a”\"}", r#"{"path":"“a”"}"#),
    ] {
        assert_eq!(standard(&schema, sent), read, "{sent}");
    }
    for sent in [
        "{\"path\": \"a\" \"limit\": 3}",
        "{\"path\": \"say \"hi\" now\"}",
        "{\"path\": a}",
        "{\"path\": \"a\", \"limit\": 3}{\"path\": \"b\", \"limit\": 3}",
        "{\"path\": \"a\"}, \"limit\": 3}",
        "{\"path\": \"a\"} \"limit\": 3",
        "{'path': 'a', 'path': 'a'}",
        "read_file(path='a', path='a')",
        "read_file('a', limit=3)",
        "read_file(path='a').lines()",
        "read_file(path='a')\nread_file(path='b')",
        "<tool_call>{path: 'a'}</tool_call><tool_call>{path: 'b'}</tool_call>",
        "first {\"path\": \"a\"} or {\"path\": \"b\"}",
        "path: {\"path\": \"a\"}",
        "{\"path\": \"C:\\dir\"}",
        "{\"path\": \"a\", , \"limit\": 3}",
        "{{\"path\": \"a\"}}",
        "{\"path\": \"a\"}}",
        "[{\"path\": \"a\"}]",
        "I cannot do that.",
        "{'path': 'a', 'span': (1)}",
        "{\"path\": “a\"}",
    ] {
        assert_eq!(standard(&schema, sent), "refused", "{sent}");
    }
}

#[test]
fn closing_brackets_are_added_only_where_allowed_and_nothing_else_is_missing() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"},
            "span": {"type": "array", "items": {"type": "string"}},
        },
    });
    for (sent, read) in [
        ("{\"path\": \"a\"", r#"{"path":"a"}"#),
        ("{\"path\": \"a\", \"span\": [\"b\"", r#"{"path":"a","span":["b"]}"#),
        ("```json\n{\"path\": \"a\"\n```", r#"{"path":"a"}"#),
    ] {
        assert_eq!(closed(&schema, sent), read, "{sent}");
        assert_eq!(standard(&schema, sent), "refused", "{sent}");
    }
    for sent in [
        "{\"path\": \"a",
        "{\"path\": \"a\",",
        "{\"path\": \"a\", \"limit\": 3",
        "{\"path\": \"a\", \"limit\":",
        "{\"path\": \"a\", \"span\": [\"b\"}",
        "{\"span\": [\"b\"]",
        "{",
    ] {
        assert_eq!(closed(&schema, sent), "refused", "{sent}");
    }
}
