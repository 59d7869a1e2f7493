//! Patterns of paths and names: `*` is any text within a segment, `**` any text. The functions are pure.

/// Returns whether a pattern matches the whole text. The time is bounded by the product of both lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    // `reached[i]` says whether the processed part of the pattern matches the first `i` characters.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while let Some(&character) = pattern.get(at) {
        let is_wild = character == '*';
        let is_any = is_wild && pattern.get(at + 1) == Some(&'*');
        let mut next = vec![false; text.len() + 1];
        for end in 0..=text.len() {
            next[end] = match is_wild {
                true => {
                    let goes_on = end > 0 && next[end - 1] && (is_any || text[end - 1] != '/');
                    reached[end] || goes_on
                }
                false => end > 0 && reached[end - 1] && text[end - 1] == character,
            };
        }
        reached = next;
        at += if is_any { 2 } else { 1 };
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn one_star_stays_in_a_segment_and_two_do_not() {
        for (pattern, text) in [
            ("/pets", "/pets"),
            ("/pets/*", "/pets/{id}"),
            ("/pets/**", "/pets/{id}/photos"),
            ("/**/photos", "/pets/{id}/photos"),
            ("/repos/{owner}/*", "/repos/{owner}/{repo}"),
            ("repos/list-*", "repos/list-for-user"),
            ("**", ""),
            ("*", "list"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("/pets", "/pets/{id}"),
            ("/pets/*", "/pets/{id}/photos"),
            ("/pets/*", "/pet"),
            ("", "/"),
            ("*", "a/b"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
