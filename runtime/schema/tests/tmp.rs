use serde_json::{Value, json};
use std::time::Instant;
use toolwright::Repair;
use toolwright::unstable::repair::{Repairer, TruncatedInput};
fn tagged(keyword: &str, tags: usize) -> Value {
    let node = json!({"$ref": "#/$defs/node"});
    let mut branches: Vec<Value> = (0..tags)
        .map(|tag| {
            json!({
        "type": "object", "required": ["type", "left", "right"],
        "properties": {"type": {"const": format!("t{tag}")}, "left": node, "right": node}})
        })
        .collect();
    branches.push(json!({"type": "object", "required": ["type", "value"],
        "properties": {"type": {"const": "leaf"}, "value": {"type": "integer"}}}));
    json!({"type":"object","properties":{"tree":node},"required":["tree"], "$defs": {"node": {keyword: branches}}})
}
fn nested(depth: usize) -> Value {
    let leaf = |value: Value| json!({"type": "leaf", "value": value});
    json!({"tree": (0..depth).fold(leaf(json!("wrong")), |tree, level| json!({"type": format!("t{}", level % 7), "left": leaf(json!(1)), "right": tree}))})
}
fn untagged(ways: usize) -> Value {
    let mut b: Vec<Value> = (0..ways)
        .map(|w| {
            let k = format!("k{w}");
            json!({"type":"object","required":[k],"properties":{k:{"$ref":"#/$defs/node"}}})
        })
        .collect();
    b.insert(0, json!({"type":"integer"}));
    json!({"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"], "$defs": {"node": {"anyOf": b}}})
}
fn same(ways: usize) -> Value {
    let mut b: Vec<Value> = (0..ways).map(|w| json!({"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/node"},format!("o{w}"):{"type":"integer"}}})).collect();
    b.insert(0, json!({"type":"integer"}));
    json!({"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"], "$defs": {"node": {"anyOf": b}}})
}
fn chain(key: impl Fn(usize) -> String, depth: usize) -> Value {
    json!({"tree": (0..depth).fold(json!("x"), |t, l| json!({key(l): t}))})
}
#[test]
fn times() {
    for (name, schema, value) in [
        ("tagged oneOf 4", tagged("oneOf", 7), nested(4)),
        ("tagged oneOf 60", tagged("oneOf", 7), nested(60)),
        ("tagged anyOf 120", tagged("anyOf", 7), nested(120)),
        ("untagged 2 60", untagged(2), chain(|l| format!("k{}", l % 2), 60)),
        ("untagged 2 120", untagged(2), chain(|l| format!("k{}", l % 2), 120)),
        ("same 3 16", same(3), chain(|_| "a".into(), 16)),
        ("same 3 60", same(3), chain(|_| "a".into(), 60)),
        ("same 3 120", same(3), chain(|_| "a".into(), 120)),
    ] {
        let r = Repairer::new(&schema, []).unwrap();
        let text = value.to_string();
        for level in [Repair::Off, Repair::Standard, Repair::Lenient] {
            let _ = r.repair(&text, level, TruncatedInput::Refused);
            let start = Instant::now();
            let out = r.repair(&text, level, TruncatedInput::Refused);
            let t = start.elapsed();
            let v = jsonschema_free(&text);
            println!(
                "{name} {level:?} {} bytes: {t:?} (parse {v:?}) {}",
                text.len(),
                out.map_or_else(|e| e.to_string(), |o| o.text)
                    .chars()
                    .take(150)
                    .collect::<String>()
            );
        }
    }
}
fn jsonschema_free(text: &str) -> std::time::Duration {
    let s = Instant::now();
    let _v: Value = serde_json::from_str(text).unwrap();
    s.elapsed()
}
#[test]
fn near() {
    use toolwright_schema::schema::Checker;
    for (unknown, known) in [(1000, 200), (200, 200), (1000, 50), (208, 200)] {
        let properties: serde_json::Map<String, Value> = (0..known)
            .map(|i| (format!("a_long_property_name_{i:04}"), json!({"type": "integer"})))
            .collect();
        let schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        let input: serde_json::Map<String, Value> = (0..unknown)
            .map(|i| (format!("a_long_proberty_nane_{:04}", 1000 + i), json!(1)))
            .collect();
        let text = Value::Object(input).to_string();
        let r = Repairer::new(&schema, []).unwrap();
        let c = Checker::new(&schema).unwrap();
        let s = Instant::now();
        let _ = c.check_text(&text);
        println!("{unknown} {known} {} bytes check {:?}", text.len(), s.elapsed());
        for level in [Repair::Off, Repair::Standard, Repair::Lenient] {
            let s = Instant::now();
            let _ = r.repair(&text, level, TruncatedInput::Refused);
            println!("{level:?} {:?}", s.elapsed());
        }
    }
}
