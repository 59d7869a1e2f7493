//! Damages a call as models do; each kind is one mistake, and the seed decides where.

mod text;

use serde_json::{Map, Value};

use text::spoil_text;

/// One mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    BooleanAsText,
    NumberAsText,
    TextAsScalar,
    Stringified,
    StringifiedTwice,
    ItemForArray,
    NullForAbsent,
    EmptyForAbsent,
    KeySpelling,
    ChoiceSpelling,
    Wrapped,
    WrappedAsText,
    NothingForNone,
    NullForNone,
    RawControls,
    SmartQuotes,
    Python,
    PythonCall,
    TrailingComma,
    Comment,
    MissingBrackets,
    Repeated,
    Tagged,
    TaggedCall,
    Fenced,
    Prose,
}

use Kind::*;

/// In the order in which they are made: first of the value, then of its text.
pub const KINDS: &[Kind] = &[
    BooleanAsText,
    NumberAsText,
    TextAsScalar,
    ItemForArray,
    NullForAbsent,
    EmptyForAbsent,
    KeySpelling,
    ChoiceSpelling,
    Stringified,
    StringifiedTwice,
    Wrapped,
    WrappedAsText,
    TaggedCall,
    NothingForNone,
    NullForNone,
    Python,
    PythonCall,
    SmartQuotes,
    RawControls,
    TrailingComma,
    Comment,
    Repeated,
    MissingBrackets,
    Tagged,
    Fenced,
    Prose,
];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            BooleanAsText => "boolean as text",
            NumberAsText => "number as text",
            TextAsScalar => "number or boolean for a text",
            Stringified => "array or object as text",
            StringifiedTwice => "array or object as text, twice",
            ItemForArray => "item for its array",
            NullForAbsent => "null for an absent key",
            EmptyForAbsent => "\"\" for an absent key",
            KeySpelling => "key in another spelling",
            ChoiceSpelling => "choice in another spelling",
            Wrapped => "wrapped in an object",
            WrappedAsText => "wrapped as text",
            NothingForNone => "nothing for no arguments",
            NullForNone => "null for no arguments",
            RawControls => "control characters in texts",
            SmartQuotes => "typographic quotes",
            Python => "python literals",
            PythonCall => "call with names",
            TrailingComma => "trailing comma",
            Comment => "comment",
            MissingBrackets => "missing closing brackets",
            Repeated => "the same twice",
            Tagged => "tags",
            TaggedCall => "name and arguments in tags",
            Fenced => "code fence",
            Prose => "prose around",
        }
    }
}

/// Numbers that look random and are the same in every run (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).expect("it is below a usize")
    }

    pub fn one<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }

    /// Different kinds, in the order in which they are made.
    pub fn kinds(&mut self, count: usize) -> Vec<Kind> {
        let mut kinds: Vec<usize> = Vec::new();
        while kinds.len() < count {
            let kind = self.below(KINDS.len());
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.sort_unstable();
        kinds.into_iter().map(|kind| KINDS[kind]).collect()
    }
}

pub struct Damaged {
    pub text: String,
}

/// The call with each of the mistakes, unless one of them cannot be made of it.
pub fn damage(
    (name, arguments): (&str, &Value),
    schema: &Value,
    kinds: &[Kind],
    random: &mut Random,
) -> Option<Damaged> {
    let mut value = arguments.clone();
    let mut text: Option<String> = None;
    for kind in kinds {
        match kind {
            NothingForNone | NullForNone => {
                let none = value.as_object().is_some_and(Map::is_empty) && text.is_none();
                text =
                    Some(none.then(|| if *kind == NullForNone { "null" } else { "" }.to_owned())?);
            }
            Wrapped => {
                let holder = random.one(&["arguments", "input", "parameters", "properties"])?;
                value = Value::Object(Map::from_iter([((*holder).to_owned(), value)]));
            }
            WrappedAsText => {
                let inner = Value::String(value.to_string());
                value = Value::Object(Map::from_iter([("arguments".to_owned(), inner)]));
            }
            TaggedCall => {
                let entries =
                    [("name".to_owned(), Value::from(name)), ("arguments".to_owned(), value)];
                value = Value::Object(Map::from_iter(entries));
                text = Some(format!("<tool_call>\n{value}\n</tool_call>"));
            }
            BooleanAsText | NumberAsText | TextAsScalar | Stringified | StringifiedTwice
            | ItemForArray | NullForAbsent | EmptyForAbsent | KeySpelling | ChoiceSpelling => {
                let mut places = Vec::new();
                find(&value, schema, *kind, String::new(), &mut places);
                let place = random.one(&places)?.clone();
                spoil(&mut value, schema, *kind, &place, random)?;
            }
            _ => {
                let sent = text.take().unwrap_or_else(|| value.to_string());
                text = Some(spoil_text(&sent, &value, name, *kind, random)?);
            }
        }
    }
    Some(Damaged { text: text.unwrap_or_else(|| value.to_string()) })
}

fn type_of(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Where a mistake can be made: places of values, or of keys.
fn find(value: &Value, schema: &Value, kind: Kind, place: String, found: &mut Vec<String>) {
    let wanted = type_of(schema);
    let is_root = place.is_empty();
    let fits = match (kind, value) {
        (BooleanAsText, Value::Bool(_)) => wanted == "boolean",
        (NumberAsText, Value::Number(_)) => wanted == "integer" || wanted == "number",
        (TextAsScalar, Value::String(text)) => {
            wanted == "string"
                && matches!(serde_json::from_str(text), Ok(Value::Number(_) | Value::Bool(_)))
        }
        (Stringified | StringifiedTwice, Value::Array(_)) => wanted == "array",
        (Stringified | StringifiedTwice, Value::Object(_)) => wanted == "object" && !is_root,
        (ItemForArray, Value::Array(items)) => {
            wanted == "array" && items.len() == 1 && !items[0].is_array() && !items[0].is_null()
        }
        (NullForAbsent | EmptyForAbsent, Value::Object(entries)) => {
            absent(entries, schema, kind).next().is_some()
        }
        (KeySpelling, Value::Object(entries)) => {
            entries.keys().any(|key| schema["properties"].get(key).is_some())
        }
        (ChoiceSpelling, Value::String(_)) => schema.get("enum").is_some(),
        _ => false,
    };
    if fits {
        found.push(place.clone());
    }
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let segment = key.replace('~', "~0").replace('/', "~1");
                let inner = schema["properties"].get(key).unwrap_or(&Value::Null);
                find(value, inner, kind, format!("{place}/{segment}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let inner = schema.get("items").unwrap_or(&Value::Null);
                find(value, inner, kind, format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Optional keys that are not given and take no `null` or `""`.
fn absent<'s>(
    entries: &'s Map<String, Value>,
    schema: &'s Value,
    kind: Kind,
) -> impl Iterator<Item = &'s String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let refuses = move |inner: &Value| match type_of(inner) {
        "" => false,
        "string" => kind == NullForAbsent || inner.get("enum").is_some(),
        _ => true,
    };
    properties
        .filter(move |(_, inner)| refuses(inner))
        .map(|(key, _)| key)
        .filter(move |key| !entries.contains_key(*key) && !required.iter().any(|it| it == *key))
}

fn schema_at<'s>(schema: &'s Value, place: &str) -> &'s Value {
    place.split('/').skip(1).fold(schema, |schema, segment| {
        let key = segment.replace("~1", "/").replace("~0", "~");
        match schema["properties"].get(&key) {
            Some(inner) if type_of(schema) != "array" => inner,
            _ => schema.get("items").unwrap_or(&Value::Null),
        }
    })
}

fn spoil(
    value: &mut Value,
    schema: &Value,
    kind: Kind,
    place: &str,
    random: &mut Random,
) -> Option<()> {
    let schema = schema_at(schema, place);
    let value = value.pointer_mut(place)?;
    match (kind, &mut *value) {
        (BooleanAsText, Value::Bool(flag)) => {
            let words: &[&str] = if *flag {
                &["true", "True", "TRUE", "yes", "1", " true"]
            } else {
                &["false", "False", "no", "0", "No"]
            };
            *value = Value::from(*random.one(words)?);
        }
        (NumberAsText, Value::Number(number)) => {
            let text = number.to_string();
            *value = Value::from(if random.below(4) == 0 { format!(" {text} ") } else { text });
        }
        (TextAsScalar, Value::String(text)) => {
            let scalar: Value = serde_json::from_str(text).ok()?;
            // A number that is written differently is another mistake.
            let written = scalar.to_string();
            *value = (written == *text).then_some(scalar)?;
        }
        (Stringified, inner) => *value = Value::String(inner.to_string()),
        (StringifiedTwice, inner) => {
            *value = Value::String(Value::String(inner.to_string()).to_string());
        }
        (ItemForArray, Value::Array(items)) => *value = items.pop()?,
        (NullForAbsent | EmptyForAbsent, Value::Object(entries)) => {
            let keys: Vec<String> = absent(entries, schema, kind).cloned().collect();
            let nothing = if kind == NullForAbsent { Value::Null } else { Value::from("") };
            entries.insert(random.one(&keys)?.clone(), nothing);
        }
        (KeySpelling, Value::Object(entries)) => {
            let known = |key: &&String| schema["properties"].get(key.as_str()).is_some();
            let keys: Vec<String> = entries.keys().filter(known).cloned().collect();
            let key = random.one(&keys)?;
            let inner = entries.remove(key)?;
            let other = respelt(key, random);
            if other == *key || entries.contains_key(&other) {
                return None;
            }
            entries.insert(other, inner);
        }
        (ChoiceSpelling, Value::String(text)) => {
            let other = respelt(text, random);
            let is_choice =
                schema["enum"].as_array().is_some_and(|all| all.iter().any(|it| *it == *other));
            *value = (!is_choice).then(|| Value::from(other))?;
        }
        _ => return None,
    }
    Some(())
}

/// A word in another of the usual spellings.
fn respelt(word: &str, random: &mut Random) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    let letters: Vec<char> = word.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let hump = letter.is_uppercase() && at > 0 && letters[at - 1].is_lowercase();
        if matches!(letter, '_' | '-' | ' ') || hump {
            parts.push(String::new());
        }
        if !matches!(letter, '_' | '-' | ' ') {
            parts.last_mut().expect("there is a first part").extend(letter.to_lowercase());
        }
    }
    let capital = |part: &String| {
        let mut letters = part.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    match random.below(5) {
        0 => parts.join("_"),
        1 => parts.join("-"),
        2 => parts.iter().map(capital).collect(),
        3 => parts.join("_").to_uppercase(),
        _ => {
            let tail: String = parts[1..].iter().map(capital).collect();
            format!("{}{tail}", parts[0])
        }
    }
}
