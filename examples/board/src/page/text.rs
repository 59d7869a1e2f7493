//! Shows untrusted text: it is never markup, and control characters are printed as escapes.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use toolwright::runtime::printable;

/// Returns a text on one line.
pub fn line(text: &str) -> String {
    printable::line(text)
}

/// Returns a text with its line breaks; tabs become spaces.
pub fn lines(text: &str) -> String {
    printable::lines(&text.replace("\r\n", "\n").replace('\t', "    "))
}

/// Cuts a text to this many characters, on one line.
pub fn short(text: &str, most: usize) -> String {
    let first: String = text.chars().take(most).collect();
    let mark = if first.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", line(first.trim()))
}

/// Sets what is between two backticks as code.
pub fn prose(text: &str) -> Markup {
    let text = lines(text);
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) || text.contains("``") { (text) }
        @else {
            @for (number, part) in parts.iter().enumerate() {
                @if number % 2 == 1 { code { (part) } } @else { (part) }
            }
        }
    }
}

/// Shows a time, to the minute.
pub fn time(at: Timestamp) -> Markup {
    let shown = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string();
    html! { time datetime=(at) { (shown) } }
}

/// Formats JSON over several lines. Numbers keep all of their digits, and text that is not JSON stays invalid.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_text) = (0_usize, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if in_text {
            out.push(letter);
            match letter {
                '\\' => out.extend(letters.next()),
                '"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match letter {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                out.push(letter);
                depth += 1;
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_text = letter == '"';
                out.push(letter);
            }
        }
    }
    printable::json(&out).into_owned()
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
