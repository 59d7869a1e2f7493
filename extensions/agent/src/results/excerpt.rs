//! Shortens an answer that is longer than its budget.

use std::fmt::Write as _;

use toolwright::unstable::json::Node;
use toolwright::untrusted::fenced;
use toolwright::{Answer, Output, ToolError};

use super::page::{PAGE, pages};
use super::shape::shape_of;
use super::text::{is_text, number, split_at_character, text_of, value_in};
use super::tools::{READ, SEARCH};

/// The minimum room in characters for the beginning and the end of a text. With less room, both are left out.
const LEAST: usize = 200;

/// The settings of an excerpt of one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    /// The handle by which the model can refer to the answer.
    pub handle: &'a str,
    /// How many characters of the answer may be sent.
    pub budget: usize,
    /// Whether the model can pass the answer on by its handle.
    pub may_refer: bool,
}

/// Returns the shortened answer; `None` if the answer is within its budget. The kind, the class and the hint of an
/// error, pictures, the structured value and the metadata are unchanged. A shortened error loses its details.
pub(super) fn shortened(answer: &Answer, terms: Terms<'_>) -> Option<Answer> {
    let text = text_of(answer);
    // A character has at least one byte, so the characters of a text with few bytes need not be counted.
    let is_short = |text: &str| text.len() <= terms.budget || text.chars().count() <= terms.budget;
    if let Some(error) = answer.error() {
        if is_short(&error.to_json()) {
            return None;
        }
        // A long hint may be the reason why the error is too long.
        let hint = error.next_action().map(|hint| split_at_character(hint, terms.budget / 4).0);
        let left = terms.budget.saturating_sub(hint.map_or(0, |hint| hint.chars().count()));
        let message = excerpt(&text, Terms { budget: left, ..terms }, None, None);
        let short = ToolError::new(error.kind().to_owned(), message).class(error.classified());
        let source = answer.untrusted_source();
        let short = source.into_iter().fold(short, |short, source| short.untrusted(&source));
        return Some(match hint {
            Some(hint) => short.hint(hint.to_owned()).into(),
            None => short.into(),
        });
    }
    if is_short(&text) {
        return None;
    }
    let source = answer.untrusted_source();
    let sent = excerpt(&text, terms, value_in(answer, &text), source.as_deref());
    let sent = Output::text(sent);
    let whole = answer.output();
    let others = whole.iter().flat_map(|it| &it.content).filter(|it| !is_text(it));
    let mut sent = others.fold(sent, |sent, block| sent.with(block.clone()));
    sent.structured = answer.structured();
    if let Some(whole) = whole {
        sent.metadata.clone_from(&whole.metadata);
    }
    Some(sent.into())
}

/// Writes the note about a text, and as much of the text as fits. Untrusted text already has a fence; the shape of
/// untrusted JSON gets a fence.
fn excerpt(text: &str, terms: Terms<'_>, value: Option<Node>, source: Option<&str>) -> String {
    let Terms { handle, budget, may_refer } = terms;
    let characters = text.chars().count();
    let (count, last) = (number(characters), pages(characters));
    let mut words = match &value {
        Some(_) => {
            format!("[{handle}: JSON of {count} characters, too long to send; its shape follows.")
        }
        None => {
            let lines = number(text.lines().count());
            format!(
                "[{handle}: {count} characters in {lines} lines, too long to send; what follows is from the beginning and the end."
            )
        }
    };
    let _ = write!(
        words,
        " {READ} {{\"id\":\"{handle}\",\"page\":1}} reads it, in {last} pages of {} characters; {SEARCH} {{\"id\":\"{handle}\",\"pattern\":\"…\"}} searches it.",
        number(PAGE)
    );
    if may_refer {
        let _ =
            write!(words, " In place of an argument, {{\"$result\":\"{handle}\"}} is all of it");
        words.push_str(match &value {
            Some(_) => ", and with \"path\":\"/key/0\" a part.",
            None => ".",
        });
    }
    words.push(']');
    let room = budget.saturating_sub(words.chars().count() + 1);
    if let Some(value) = value {
        let shape = shape_of(&value, room);
        if shape.chars().count() <= room {
            words.push('\n');
            words.push_str(&match source {
                Some(source) => fenced(source, &shape),
                None => shape,
            });
        }
        return words;
    }
    if room >= LEAST {
        words.push('\n');
        words.push_str(&ends_of(text, characters, room));
    }
    words
}

/// Returns the beginning and the end of a text, cut at line breaks if possible, with a note between them about what is
/// left out.
fn ends_of(text: &str, characters: usize, room: usize) -> String {
    // Some room is left for the note between the two parts.
    let side = room.saturating_sub(60) / 2;
    if characters <= 2 * side {
        return text.to_owned();
    }
    let (head, _) = split_at_character(text, side);
    let (_, tail) = split_at_character(text, characters.saturating_sub(side));
    let head = match head.rfind('\n') {
        Some(end) if end >= head.len() / 2 => &head[..=end],
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        _ => tail,
    };
    let left = characters - head.chars().count() - tail.chars().count();
    let newline = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{newline}[… {} characters left out …]\n{tail}", number(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(budget: usize) -> Terms<'static> {
        Terms { handle: "lr_3", budget, may_refer: true }
    }

    #[test]
    fn the_ends_are_cut_at_lines_and_every_character_is_counted() {
        let line = "twenty characters in\n";
        let text = line.repeat(1_000);
        let short = ends_of(&text, text.chars().count(), 500);
        let (head, rest) = short.split_once("[… ").expect("a notice");
        let (left, tail) = rest.split_once(" characters left out …]\n").expect("a notice");
        assert!(head.len() % line.len() == 0 && tail.len() % line.len() == 0, "{short}");
        let left: usize = left.replace(',', "").parse().expect("a number");
        assert_eq!(head.len() + left + tail.len(), text.len());
        assert!(short.chars().count() <= 500);
    }

    #[test]
    fn a_text_of_one_line_is_cut_between_characters() {
        let text = "ä".repeat(50_000);
        let answer = shortened(&Output::text(text).into(), terms(2_000)).expect("it is too long");
        assert!(answer.text().chars().count() <= 2_000);
        assert!(answer.text().contains("ä\n[… "), "{}", answer.text());
    }

    #[test]
    fn a_budget_that_is_smaller_than_its_own_words_sends_these_alone() {
        for text in ["a\n".repeat(500), format!("[{}1]", "1,".repeat(500))] {
            let answer = shortened(&Output::text(text).into(), terms(10)).expect("it is too long");
            let sent = answer.text().into_owned();
            assert!(sent.starts_with("[lr_3: ") && sent.ends_with(".]"), "{sent}");
        }
    }

    #[test]
    fn an_error_that_is_only_a_little_too_long_has_no_part_twice() {
        // The JSON of the error is longer than its message, since a line break is two characters there.
        let message: String = (0..2_545).map(|line| format!("error {line:05}\n")).collect();
        let budget = message.chars().count() + 1_000;
        let error = ToolError::new("exit_status", message);
        let answer = shortened(&error.into(), terms(budget)).expect("it is too long");
        let text = answer.error().expect("an error").message().to_owned();
        for line in ["error 00000", "error 01272", "error 02544"] {
            assert!(text.matches(line).count() <= 1, "{line}");
        }
    }

    #[test]
    fn a_long_hint_is_cut_too() {
        let error = ToolError::new("x", "short").hint("y".repeat(40_000));
        let answer = shortened(&error.into(), terms(2_000)).expect("it is too long");
        assert!(answer.text().chars().count() <= 2_000, "{}", answer.text().chars().count());
    }

    #[test]
    fn an_error_keeps_its_kind_its_class_and_its_hint() {
        let error = ToolError::new("exit_status", "x".repeat(50_000)).hint("look at the end");
        let answer = shortened(&error.into(), terms(2_000)).expect("it is too long");
        let error = answer.error().expect("an error");
        assert_eq!((error.kind(), error.next_action()), ("exit_status", Some("look at the end")));
        assert!(error.message().starts_with("[lr_3: 50,000 characters"), "{error}");
    }
}
