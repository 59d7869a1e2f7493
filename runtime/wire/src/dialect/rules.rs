//! What each provider takes, as data. From the vendors' published documents and, where those are
//! silent, from what their servers refuse.

use super::Dialect;

/// What one dialect takes.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) name: Name,
    /// Whether the names of the input's own properties are letters, digits, `_`, `.` and `-`, 64 at the most.
    /// The documents say it of all properties; servers take other names below.
    pub(super) plain_keys: bool,
    /// The keywords that may be sent, where not all may; structure is judged apart.
    pub(super) keywords: Option<&'static [&'static str]>,
    /// The formats of texts that may be sent, where not all may.
    pub(super) formats: Option<&'static [&'static str]>,
    /// The formats of numbers that may be sent, where not all may.
    pub(super) number_formats: Option<&'static [&'static str]>,
    /// Whether regular expressions may look around and back.
    pub(super) looks_around: bool,
    pub(super) references: References,
    pub(super) recursion: Recursion,
    pub(super) type_lists: TypeLists,
    pub(super) constants: Constants,
    pub(super) objects: Objects,
    /// Whether an absent key is sent as `null`.
    pub(super) absent_is_null: bool,
    /// Whether a value may be anything.
    pub(super) untyped: bool,
    /// Whether a list may leave open what it holds.
    pub(super) open_lists: bool,
    /// Whether the form can say what each place of a tuple takes.
    pub(super) tuples: bool,
    /// Whether the input may be a choice between objects, and have `not` and `enum` beside its properties.
    pub(super) root_choice: bool,
    /// Whether no keyword may stand beside `anyOf`.
    pub(super) lone_choice: bool,
    /// Whether a keyword says the order of properties.
    pub(super) ordering: bool,
    /// Whether types are in capitals, and counts are texts, as in Google's older form.
    pub(super) google: bool,
    pub(super) limits: Limits,
}

/// The names of tools: letters, digits, `_`, `-` and these.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) also: &'static str,
    pub(super) longest: usize,
    /// Whether the first character is a letter or `_`.
    pub(super) letter_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// As they are.
    Kept,
    /// Without a keyword beside them.
    Alone,
    /// Replaced by what they refer to.
    Inlined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursion {
    Free,
    /// Only below a property that may be absent.
    BelowOptional,
    Refused,
}

/// `["string", "null"]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeLists {
    Kept,
    /// A variant of `anyOf` each.
    Split,
    /// `nullable`, and a variant of `anyOf` each.
    Nullable,
}

/// `const` and `enum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constants {
    Any,
    /// No lists and objects.
    Scalars,
    /// Texts that are not empty, and numbers; no `const`.
    TextsAndNumbers,
    /// Texts that are not empty; no `const`.
    Texts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    Any,
    /// Every key is named, and `additionalProperties` says so.
    Closed,
    /// Every key is named, and nothing says so.
    Named,
}

/// The most of something in one schema.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) depth: Option<usize>,
    pub(super) properties: Option<usize>,
    pub(super) enum_values: Option<usize>,
    pub(super) characters: Option<usize>,
    /// In one request.
    pub(super) tools: Option<usize>,
    /// Properties that may be absent, in one request.
    pub(super) optional: Option<usize>,
    /// Values of several types, in one request.
    pub(super) unions: Option<usize>,
    /// An enum of more than so many texts may have so many characters.
    pub(super) long_enum: Option<(usize, usize)>,
}

const NO_LIMITS: Limits = Limits {
    depth: None,
    properties: None,
    enum_values: None,
    characters: None,
    tools: None,
    optional: None,
    unions: None,
    long_enum: None,
};

const ANTHROPIC: Rules = Rules {
    name: Name { also: "", longest: 128, letter_first: false },
    plain_keys: true,
    keywords: None,
    formats: None,
    number_formats: None,
    looks_around: true,
    references: References::Kept,
    recursion: Recursion::Free,
    type_lists: TypeLists::Kept,
    constants: Constants::Any,
    objects: Objects::Any,
    absent_is_null: false,
    untyped: true,
    open_lists: true,
    tuples: true,
    root_choice: false,
    lone_choice: false,
    ordering: false,
    google: false,
    limits: NO_LIMITS,
};

const ANTHROPIC_STRICT: Rules = Rules {
    keywords: Some(&["minItems", "default"]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    number_formats: Some(&[]),
    references: References::Alone,
    recursion: Recursion::Refused,
    type_lists: TypeLists::Split,
    constants: Constants::Scalars,
    objects: Objects::Closed,
    untyped: false,
    open_lists: false,
    tuples: false,
    limits: Limits { tools: Some(20), optional: Some(24), unions: Some(16), ..NO_LIMITS },
    ..ANTHROPIC
};

const OPENAI: Rules = Rules {
    name: Name { also: "", longest: 64, letter_first: false },
    plain_keys: false,
    open_lists: false,
    tuples: false,
    limits: Limits { tools: Some(128), ..NO_LIMITS },
    ..ANTHROPIC
};

const OPENAI_STRICT: Rules = Rules {
    keywords: Some(&[
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    number_formats: Some(&[]),
    references: References::Alone,
    constants: Constants::Scalars,
    objects: Objects::Closed,
    looks_around: false,
    absent_is_null: true,
    untyped: false,
    limits: Limits {
        depth: Some(10),
        properties: Some(5_000),
        enum_values: Some(1_000),
        characters: Some(120_000),
        tools: Some(128),
        optional: None,
        unions: None,
        long_enum: Some((250, 15_000)),
    },
    ..OPENAI
};

const GEMINI: Rules = Rules {
    name: Name { also: ":.", longest: 128, letter_first: true },
    plain_keys: false,
    keywords: Some(&["minItems", "maxItems", "minimum", "maximum"]),
    references: References::Alone,
    recursion: Recursion::BelowOptional,
    type_lists: TypeLists::Split,
    constants: Constants::TextsAndNumbers,
    untyped: false,
    open_lists: false,
    ordering: true,
    ..ANTHROPIC
};

const GEMINI_OPENAPI: Rules = Rules {
    keywords: Some(&[
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "minProperties",
        "maxProperties",
        "default",
    ]),
    formats: Some(&["date-time", "enum"]),
    number_formats: Some(&["int32", "int64", "float", "double"]),
    references: References::Inlined,
    recursion: Recursion::Refused,
    type_lists: TypeLists::Nullable,
    constants: Constants::Texts,
    objects: Objects::Named,
    tuples: false,
    lone_choice: true,
    google: true,
    ..GEMINI
};

const MCP: Rules = Rules {
    name: Name { also: ".", longest: 128, letter_first: false },
    plain_keys: false,
    root_choice: true,
    ..ANTHROPIC
};

impl Rules {
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Anthropic => &ANTHROPIC,
            Dialect::AnthropicStrict => &ANTHROPIC_STRICT,
            // The Responses API takes as many tools as fit the context.
            Dialect::OpenAiResponses | Dialect::OpenAiChat => &OPENAI,
            Dialect::OpenAiChatStrict | Dialect::OpenAiResponsesStrict => &OPENAI_STRICT,
            Dialect::Gemini => &GEMINI,
            Dialect::GeminiOpenApi => &GEMINI_OPENAPI,
            Dialect::Mcp => &MCP,
        }
    }

    /// Whether a keyword may be sent that says no more than a limit or a hint.
    pub(super) fn takes(&self, keyword: &str) -> bool {
        self.keywords.is_none_or(|known| known.contains(&keyword))
    }

    /// Whether the dialect is plain JSON Schema.
    pub(super) fn plain(&self) -> bool {
        self.keywords.is_none()
    }
}
