//! The common parts of the contestants' crates: the types, the parameters and the bodies of the tools.
//!
//! Tools come in five shapes with different parameter types. Every other tool answers with a type of its own. A
//! contestant adds the code around that.

/// The prefix of the names of all generated packages.
pub const PREFIX: &str = "compile-";

/// A contestant's crate.
pub struct Source {
    /// The lines under `[dependencies]`.
    pub dependencies: String,
    /// `src/lib.rs`.
    pub library: String,
    /// `examples/prove.rs`: prints what [`PROOF`] builds.
    pub proof: String,
}

impl Source {
    pub fn manifest(&self, name: &str) -> String {
        let dependencies = &self.dependencies;
        format!(
            r#"[package]
name = "{PREFIX}{name}"
version = "0.0.0"
edition = "2024"
publish = false

[lib]
name = "contestant"

[dependencies]
{dependencies}

[workspace]
"#
        )
    }
}

/// A parameter: name, type, description.
pub type Parameter = (&'static str, &'static str, &'static str);

/// One tool, without any framework.
pub struct Tool {
    pub number: usize,
    pub parameters: [Parameter; 5],
    /// The type of the answer.
    pub output: String,
}

pub fn tools(count: usize) -> impl Iterator<Item = Tool> {
    (0..count).map(|number| Tool {
        number,
        parameters: [
            ("path", "String", "Path relative to the workspace root."),
            ("first", "usize", "First line to return, counted from 1."),
            ("limit", THIRD[number % THIRD.len()], "How much to return; all when absent."),
            ("switches", FOURTH[number % FOURTH.len()], "What to switch on."),
            ("window", "Window", "How much to show around each line."),
        ],
        output: match number % 2 {
            0 => format!("Output{number}"),
            _ => "Lines".to_owned(),
        },
    })
}

const THIRD: [&str; 5] =
    ["Option<usize>", "Option<u32>", "Option<u64>", "Option<usize>", "Option<u16>"];
const FOURTH: [&str; 2] = ["Vec<String>", "bool"];

impl Tool {
    pub fn name(&self) -> String {
        format!("tool_{}", self.number)
    }

    pub fn about(&self) -> String {
        format!("Read part number {} of a text file.", self.number)
    }

    /// Returns fields or parameters, one per line, with their descriptions as doc comments.
    pub fn documented(&self, visibility: &str) -> String {
        self.parameters
            .iter()
            .map(|(name, kind, about)| {
                format!("    /// {about}\n    {visibility}{name}: {kind},\n")
            })
            .collect()
    }

    /// Returns parameters, one per line, for a function whose input is described elsewhere.
    pub fn undocumented(&self) -> String {
        self.parameters.iter().map(|(name, kind, _)| format!("    {name}: {kind},\n")).collect()
    }

    /// Returns the parameters' names, each after `before`.
    pub fn names(&self, before: &str) -> String {
        let names: Vec<_> =
            self.parameters.iter().map(|(name, ..)| format!("{before}{name}")).collect();
        names.join(", ")
    }

    /// Returns the answer's own type below `derives`, or an empty text where the answer has a shared type.
    pub fn output_type(&self, derives: &str) -> String {
        match self.output.as_str() {
            "Lines" => String::new(),
            own => format!("{derives}\npub struct {own} {OUTPUT_FIELDS}\n\n"),
        }
    }

    /// Returns the statements of the body; the last one is an expression of type [`Self::output`].
    pub fn body(&self) -> String {
        let Self { number, output, .. } = self;
        let switched = match number % 2 {
            0 => "switches.join(\",\")",
            _ => "if switches { \"on\".to_owned() } else { \"off\".to_owned() }",
        };
        format!(
            "    let limit = limit.map_or({number}, |limit| limit as usize);
    let last = first + limit + window.before as usize + window.after as usize;
    let text = format!(\"{{path}} {{}} {{}}\", window.label, {switched});
    {output} {{ text, last, more: last > limit }}"
        )
    }
}

const OUTPUT_FIELDS: &str = "{
    pub text: String,
    pub last: usize,
    pub more: bool,
}";

/// Returns the types that all tools share. `input` and `output` are the attributes of input and output types.
pub fn shared_types(input: &str, output: &str) -> String {
    format!(
        "/// A range around a line.
{input}
pub struct Window {{
    /// Lines before.
    pub before: u32,
    /// Lines after.
    pub after: u32,
    /// What to call the range.
    pub label: String,
}}

/// Lines of a file.
{output}
pub struct Lines {OUTPUT_FIELDS}

"
    )
}

/// Polls a future that is never pending, so that all of it is compiled with the library.
pub const NOW: &str = "
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!(\"these tools never wait\"),
    }
}
";

/// The end of every `main` of a proof.
///
/// It follows `let listed: Vec<(String, String, Value)>` (name, description and schema of each tool, in any order)
/// and `let answers: [String; 2]` (to [`CALLS`]). Its output is the same for all contestants: names, descriptions,
/// each parameter's description, answers.
pub const PROOF: &str = r#"
    let mut tools = serde_json::Map::new();
    let mut names: Vec<_> = listed.into_iter().collect();
    names.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, about, schema) in names {
        let mut parameters = serde_json::Map::new();
        for parameter in ["path", "first", "limit", "switches", "window"] {
            let described = schema["properties"][parameter]["description"].clone();
            assert!(described.is_string(), "{name} does not describe {parameter}");
            parameters.insert(parameter.to_owned(), described);
        }
        tools.insert(name, serde_json::json!({ "about": about, "parameters": parameters }));
    }
    let answers = answers.map(|answer| serde_json::from_str::<Value>(&answer).expect("JSON"));
    println!("{}", serde_json::json!({ "tools": tools, "answers": answers }));
"#;

/// The calls of a proof: name and input text.
pub const CALLS: &str = r##"
const CALLS: [(&str, &str); 2] = [
    ("tool_0", r#"{"path":"a.rs","first":2,"limit":3,"switches":["x","y"],"window":{"before":1,"after":1,"label":"w"}}"#),
    ("tool_1", r#"{"path":"b.rs","first":5,"switches":true,"window":{"before":0,"after":2,"label":"v"}}"#),
];
"##;
