//! Expands the braces of a pattern for files: `{src,tests}/*.rs` becomes `src/*.rs` and `tests/*.rs`. Each alternative
//! is then a pattern of its own, with a folder of its own.

use std::iter::Peekable;
use std::str::Chars;

/// The largest number of alternatives that one pattern may have.
const MOST: usize = 256;

/// The largest number of braces inside each other.
const DEEPEST: usize = 16;

/// Returns the alternatives of a pattern, at least one.
///
/// # Errors
/// When a brace is not closed, or the pattern has too many alternatives.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, String> {
    let mut left = pattern.chars().peekable();
    expand_part(&mut left, 0).map_err(|why| format!("`{pattern}` is no pattern: {why}"))
}

/// Expands up to the end of the pattern or, inside braces, up to the end of the alternative.
fn expand_part(left: &mut Peekable<Chars<'_>>, depth: usize) -> Result<Vec<String>, &'static str> {
    let mut parts = vec![String::new()];
    while let Some(it) = left.next_if(|it| depth == 0 || !matches!(it, ',' | '}')) {
        match it {
            '{' if depth == DEEPEST => return Err("its braces are too deep"),
            '{' => parts = combine(&parts, &alternatives(left, depth + 1)?)?,
            '\\' => append(&mut parts, it, left.next()),
            '[' => {
                append(&mut parts, it, None);
                copy_class(left, &mut parts);
            }
            _ => append(&mut parts, it, None),
        }
    }
    Ok(parts)
}

/// Reads the alternatives of a brace and the `}` that closes it.
fn alternatives(left: &mut Peekable<Chars<'_>>, depth: usize) -> Result<Vec<String>, &'static str> {
    let mut all = Vec::new();
    loop {
        all.extend(expand_part(left, depth)?);
        match left.next() {
            Some(',') => {}
            Some(_) => return Ok(all),
            None => return Err("a brace is not closed"),
        }
    }
}

/// Copies a class in brackets up to its end, because a brace inside it is an ordinary character.
fn copy_class(left: &mut Peekable<Chars<'_>>, parts: &mut [String]) {
    if let Some(negation) = left.next_if(|it| matches!(it, '!' | '^')) {
        append(parts, negation, None);
    }
    let mut is_first = true;
    while let Some(it) = left.next() {
        append(parts, it, if it == '\\' { left.next() } else { None });
        if it == ']' && !is_first {
            return;
        }
        is_first = false;
    }
}

fn append(parts: &mut [String], first: char, second: Option<char>) {
    for part in parts {
        part.push(first);
        part.extend(second);
    }
}

fn combine(starts: &[String], ends: &[String]) -> Result<Vec<String>, &'static str> {
    if starts.len().saturating_mul(ends.len()) > MOST {
        return Err("its braces have more than 256 alternatives: write several patterns");
    }
    let with_ends =
        |start: &String| ends.iter().map(|end| format!("{start}{end}")).collect::<Vec<_>>();
    Ok(starts.iter().flat_map(with_ends).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alternative_becomes_a_pattern() {
        let cases: [(&str, &[&str]); 7] = [
            ("a/*.rs", &["a/*.rs"]),
            ("{/etc,usr}/**", &["/etc/**", "usr/**"]),
            ("{a,b{c,d/**}}x{,y}", &["ax", "axy", "bcx", "bcxy", "bd/**x", "bd/**xy"]),
            ("a,b\\{c,d\\}", &["a,b\\{c,d\\}"]),
            ("[{,}]{a,[]}]}", &["[{,}]a", "[{,}][]}]"]),
            ("[!]{]{a,b}", &["[!]{]a", "[!]{]b"]),
            ("{}", &[""]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(expand(pattern).unwrap_or_else(|error| panic!("{error}")), expected);
        }
    }

    #[test]
    fn a_brace_that_is_not_closed_and_too_many_alternatives_are_refused() {
        let many = "{a,b}".repeat(9);
        let deep = "{".repeat(100_000);
        for (pattern, why) in [
            ("{a", "a brace is not closed"),
            ("{a,{b,c}", "a brace is not closed"),
            (&many, "its braces have more than 256 alternatives: write several patterns"),
            (&deep, "its braces are too deep"),
        ] {
            let error = expand(pattern).expect_err(pattern);
            assert_eq!(error, format!("`{pattern}` is no pattern: {why}"));
        }
    }
}
