//! The names that options have in other libraries, each with advice on the option of this library that does the same.

/// Returns advice for the name of an option that only other libraries have; `None` if there is no known counterpart.
pub fn instead_of(option: &str, known: &[&str]) -> Option<&'static str> {
    // `known` lists the options of the attribute and so identifies it. The same name of an option can mean something
    // different in each attribute.
    let table: &[&[(&[&str], &str)]] = if known.contains(&"positional") {
        &[ANYWHERE, OF_A_PARAMETER]
    } else if known.contains(&"effect") {
        &[ANYWHERE, REGISTRATION, OF_A_TOOL]
    } else if known.contains(&"group") {
        &[ANYWHERE, REGISTRATION]
    } else {
        &[]
    };
    let mut rows = table.iter().flat_map(|rows| rows.iter());
    rows.find(|(names, _)| names.contains(&option)).map(|(_, advice)| *advice)
}

const ANYWHERE: &[(&[&str], &str)] = &[
    (
        &["description", "desc", "doc", "docs", "about", "help", "long_help", "long_about"],
        "the doc comment is the description: write `/// …`",
    ),
    (&["rename"], "another name is `name = \"…\"`"),
    (
        &["rename_all", "deny_unknown_fields", "serde", "schemars"],
        "attributes of serde and schemars stand on a type of your own: `#[toolwright::data]`",
    ),
];

const REGISTRATION: &[(&[&str], &str)] = &[(
    &["link", "linked", "no_link", "register", "registered", "unregistered", "auto_register"],
    "a tool that `Registry::linked` leaves out is `unlinked`",
)];

const OF_A_TOOL: &[(&[&str], &str)] = &[
    (
        &["read", "read_only", "readonly", "read_only_hint", "pure"],
        "what a call changes is `effect = read`",
    ),
    (&["idempotent_hint", "idempotent"], "what a call changes is `effect = idempotent`"),
    (&["once"], "what a call changes is `effect = once`"),
    (&["keyed"], "what a call changes is `effect = keyed`"),
    (&["safe"], "how carefully to look is `danger = safe`"),
    (&["moderate"], "how carefully to look is `danger = moderate`"),
    (&["dangerous"], "how carefully to look is `danger = dangerous`"),
    (&["critical"], "how carefully to look is `danger = critical`"),
    (
        &["destructive", "destructive_hint", "risk", "level"],
        "how carefully to look is `danger = dangerous`",
    ),
    (
        &[
            "requires_approval",
            "require_approval",
            "needs_approval",
            "confirm",
            "confirmation",
            "ask",
        ],
        "a person is asked by `approval = \"the reason\"`",
    ),
    (
        &["annotations", "hints"],
        "what a tool does is `effect = …`, how carefully to look `danger = …`",
    ),
    (
        &["schema", "input_schema", "parameters", "params", "args", "arguments"],
        "the schema is made of the function's parameters: put `#[arg(…)]` on each",
    ),
    (
        &["output_schema", "returns", "output"],
        "the output schema is made of the type that the function returns",
    ),
    (&["retries", "max_retries", "attempts"], "it is `retry(attempts = 3)`"),
    (&["namespace", "category", "toolbox"], "it is `group = \"…\"`"),
    (&["tag"], "it is `tags(\"…\")`"),
    (&["concurrency", "max_concurrency", "parallel"], "calls at once are `limit = 4`"),
    (&["return_direct", "final", "ends_run"], "a tool that ends the run is `terminal`"),
    (&["aliases", "alias"], "a tool has one name: `name = \"…\"`"),
];

const OF_A_PARAMETER: &[(&[&str], &str)] = &[
    (&["long"], "the flag on a command line is the key: `name = \"…\"`"),
    (
        &["value_name", "value_hint", "num_args", "value_delimiter", "action"],
        "the type says it on a command line",
    ),
    (
        &["value_parser", "value_enum", "choices", "possible_values", "one_of", "values", "enum"],
        "what is allowed is a type: an `enum` with `#[toolwright::data]`",
    ),
    (&["env"], "input comes from the call alone; what a program knows is a service: `&T`"),
    (
        &["required", "optional", "nullable"],
        "the type says it: an `Option` may be left out, all else is required",
    ),
    (
        &["default_value", "default_value_t", "default_values", "default_fn"],
        "it is `default = …`, any expression of the parameter's type",
    ),
    (&["min", "ge", "min_value", "gte", "exclusive_minimum"], "it is `minimum = …`"),
    (&["max", "le", "max_value", "lte", "exclusive_maximum"], "it is `maximum = …`"),
    (&["gt"], "limits are inclusive: `minimum = …`"),
    (&["lt"], "limits are inclusive: `maximum = …`"),
    (
        &["min_length", "max_length", "min_len", "max_len", "len", "min_items", "max_items"],
        "it is `length = 1..=80`, of a text in characters, of a list in items",
    ),
    (&["range"], "it is `minimum = …, maximum = …`"),
    (&["regex", "regexp"], "it is `pattern = \"…\"`"),
    (&["examples"], "it is `example = …`, one for each"),
    (&["aliases", "visible_alias"], "it is `alias = \"…\"`, one for each"),
    (&["sensitive", "redact", "hide"], "it is `secret`"),
    (&["egress", "outbound", "exfiltrates", "leaves", "sends"], "it is `sink`"),
    (&["index", "last"], "it is `positional`"),
    (&["flatten"], "a whole type carries the input as `#[input]`"),
    (&["format"], "the type says it: `jiff::Timestamp`, `uuid::Uuid`, `url::Url`"),
    (&["skip", "inject", "context", "state"], "what the runtime hands in is borrowed: `&T`"),
];
