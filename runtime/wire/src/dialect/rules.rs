//! The schemas and names that each provider accepts, as data. The source is the providers' documentation, or else what
//! their servers accepted and refused.

use super::Dialect;

/// The rules of one dialect for schemas and names.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) name: Name,
    /// Whether the names of the input's own properties are limited to 64 letters, digits, `_`, `.` and `-`. The
    /// documentation says that about all properties, but servers accept other names in nested objects.
    pub(super) plain_keys: bool,
    /// The keywords that may be sent; `None` for all. Keywords for structure have rules of their own.
    pub(super) keywords: Option<&'static [&'static str]>,
    /// The formats of strings that may be sent; `None` for all.
    pub(super) formats: Option<&'static [&'static str]>,
    /// The formats of numbers that may be sent; `None` for all.
    pub(super) number_formats: Option<&'static [&'static str]>,
    /// Whether the provider accepts look-around and back-references in regular expressions.
    pub(super) looks_around: bool,
    pub(super) references: References,
    pub(super) recursion: Recursion,
    pub(super) type_lists: TypeLists,
    pub(super) constants: Constants,
    pub(super) objects: Objects,
    /// Whether the model sends `null` for a key that it leaves out.
    pub(super) absent_is_null: bool,
    /// Whether a schema may leave out the type of a value.
    pub(super) untyped: bool,
    /// Whether the schema of a list may leave out the type of its items.
    pub(super) open_lists: bool,
    /// Whether the form can describe each item of a tuple.
    pub(super) tuples: bool,
    /// Whether the root of an input may be a choice between objects, and may have `not` and `enum`.
    pub(super) root_choice: bool,
    /// Whether `anyOf` must be the only keyword of its schema.
    pub(super) lone_choice: bool,
    /// Whether the dialect has a keyword for the order of properties.
    pub(super) ordering: bool,
    /// Whether the names of types are upper-case and limits of counts are strings, as in Google's older format.
    pub(super) google: bool,
    pub(super) limits: Limits,
}

/// The rules for the names of tools. Letters, digits, `_` and `-` are always allowed; `also` lists further characters.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) also: &'static str,
    pub(super) longest: usize,
    /// Whether the first character must be a letter or `_`.
    pub(super) letter_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// References are sent unchanged.
    Kept,
    /// A reference is sent without keywords next to it.
    Alone,
    /// References are replaced by their targets.
    Inlined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursion {
    Free,
    /// A schema may refer to itself only below an optional property.
    BelowOptional,
    Refused,
}

/// How lists of types, such as `["string", "null"]`, are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeLists {
    Kept,
    /// Each type becomes a variant of `anyOf`.
    Split,
    /// `null` becomes the keyword `nullable`, and each other type becomes a variant of `anyOf`.
    Nullable,
}

/// Which constants may be sent in `const` and `enum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constants {
    Any,
    /// Only constants that are not arrays or objects.
    Scalars,
    /// Only non-empty texts and numbers, and only in `enum`.
    TextsAndNumbers,
    /// Only non-empty texts, and only in `enum`.
    Texts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    Any,
    /// Every key is listed, and `additionalProperties` is `false`.
    Closed,
    /// Every key is listed, but `additionalProperties` is not sent.
    Named,
}

/// The limits of one schema or one request; `None` for no limit.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) depth: Option<usize>,
    pub(super) properties: Option<usize>,
    pub(super) enum_values: Option<usize>,
    pub(super) characters: Option<usize>,
    /// The number of tools in one request.
    pub(super) tools: Option<usize>,
    /// The number of optional properties in one request.
    pub(super) optional: Option<usize>,
    /// The number of values with several types in one request.
    pub(super) unions: Option<usize>,
    /// The limit of long enums. If an enum has more values than the first number, its values may have at most as many
    /// characters as the second number, taken together.
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
            // The Responses API has no documented limit on the number of tools. The limit of the Chat Completions API
            // is used.
            Dialect::OpenAiResponses | Dialect::OpenAiChat => &OPENAI,
            Dialect::OpenAiChatStrict | Dialect::OpenAiResponsesStrict => &OPENAI_STRICT,
            Dialect::Gemini => &GEMINI,
            Dialect::GeminiOpenApi => &GEMINI_OPENAPI,
            Dialect::Mcp => &MCP,
        }
    }

    /// Returns whether a keyword that is a limit or a hint may be sent.
    pub(super) fn takes(&self, keyword: &str) -> bool {
        self.keywords.is_none_or(|known| known.contains(&keyword))
    }

    /// Returns whether the dialect accepts all keywords of JSON Schema, apart from those with rules of their own.
    pub(super) fn plain(&self) -> bool {
        self.keywords.is_none()
    }
}
