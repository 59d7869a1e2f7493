//! Texts of others, as the page shows them: as text, in which nothing acts on a reader's eye.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use toolwright::runtime::printable;

/// A text on one line.
pub fn line(text: &str) -> String {
    printable::line(text)
}

/// A text with its lines; tabulators are spaces.
pub fn lines(text: &str) -> String {
    printable::lines(&text.replace("\r\n", "\n").replace('\t', "    "))
}

/// A text on one line of at most so many characters.
pub fn short(text: &str, most: usize) -> String {
    let first: String = text.chars().take(most).collect();
    let mark = if first.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", line(first.trim()))
}

/// A text in which what is between two backticks is set as code.
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

/// A time, to the minute.
pub fn time(at: Timestamp) -> Markup {
    let shown = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string();
    html! { time datetime=(at) { (shown) } }
}

/// JSON over several lines, without a digit lost. What is no JSON comes out as something that is none either.
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
