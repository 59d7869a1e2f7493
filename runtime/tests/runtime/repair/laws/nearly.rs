//! Texts that are nearly JSON.

use proptest::prelude::*;

use super::any_text;

/// JSON with pieces cut out, put in or repeated.
pub fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ",",
        ":",
        "\\",
        "\\u12",
        "\\ud83d\\ude00",
        "\\udc00",
        "(",
        ")",
        "None",
        "True",
        "nul",
        "-",
        "0",
        "1.",
        "e5",
        "01",
        "//",
        "/*",
        "#",
        "```",
        "<tool_call>",
        "“",
        "”",
        "\u{1}",
        "\n",
        "=",
        "f(a=",
        "😀",
    ];
    let cut = (
        any::<prop::sample::Index>(),
        0..3_usize,
        prop::option::of(proptest::sample::select(pieces.to_vec())),
    );
    let pieces = prop::collection::vec(proptest::sample::select(pieces.to_vec()), 0..12);
    prop_oneof![
        pieces.prop_map(|pieces| pieces.concat()),
        (any_text(), prop::collection::vec(cut, 0..4)).prop_map(|(text, cuts)| {
            let mut letters: Vec<char> = text.chars().collect();
            for (at, length, piece) in cuts {
                let at = at.index(letters.len() + 1);
                let end = (at + length).min(letters.len());
                letters.splice(at..end, piece.unwrap_or_default().chars());
            }
            letters.into_iter().collect()
        }),
    ]
}

/// A number or a text in quotes, with a mistake or without.
pub fn nearly_a_scalar() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "\\n",
        "\\\\",
        "\\\"",
        "\\/",
        "\\'",
        "\\x41",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\u12",
        "\\d",
        "'",
        "\u{1}",
        "\n",
        "\u{7f}",
        "😀",
        "“",
    ];
    let text = prop::collection::vec(proptest::sample::select(pieces.to_vec()), 0..4);
    prop_oneof![
        "-?[0-9]{0,2}\\.?[0-9]{0,2}([eE][+-]?[0-9]{0,2})?".prop_map(|number| format!("[{number}]")),
        text.prop_map(|pieces| format!("\"{}\"", pieces.concat())),
        "(true|false|null|True|None|tru|nan|undefined| true |\u{a0}1|1,|\\[1,\\]|\\{\\}|\\(\\))"
            .prop_map(|it| it),
    ]
}
