//! Whether two names are those of one person. A name comes from more than one place: from the application's session, from a
//! trusted key, from a policy; each spells it in its way.

/// Returns whether two names are those of one person: without regard to case, and to blanks at their ends.
#[doc(hidden)]
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

/// Returns whether the second name is certainly that of another person. No name, or a blank one, may be anybody's.
#[doc(hidden)]
#[must_use]
pub fn is_another(one: Option<&str>, other: &str) -> bool {
    let is_blank = |name: &str| name.trim().is_empty();
    one.is_some_and(|one| !is_blank(one) && !is_blank(other) && !is_same(one, other))
}

/// The letters of a name as they are compared. Some have another one in between: ẞ, ß, SS, ss.
fn letters(name: &str) -> impl Iterator<Item = char> {
    let lower = name.trim().chars().flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}
