//! What lies outside of folders, where it is refused and where it is allowed.

use toolwright::policy::{Mode, Policy, Rule};

use super::scene::{Case, bare, policy};

fn words<const N: usize>(policy: &Policy, names: [&str; N]) -> [&'static str; N] {
    names.map(|it| Case::of("write_file").writing(it).word(policy))
}

#[test]
fn without_a_base_only_what_is_known_to_be_outside_is_refused() {
    let here = policy(Policy::builder().mode(Mode::Unrestricted).root("."));
    let names = ["a", "..", "../a", "/a"];
    assert_eq!(words(&here, names), ["allow", "deny", "deny", "ask"]);
    let below = policy(Policy::builder().mode(Mode::Unrestricted).root("src"));
    let names = ["src/a", "a", "..", "../src/a", "/src/a"];
    assert_eq!(words(&below, names), ["allow", "deny", "ask", "ask", "ask"]);
}

#[test]
fn what_is_allowed_outside_is_allowed_where_every_file_is_outside() {
    let rule = Rule::allow("it is nobody's").outside("/srv");
    let policy = policy(bare().base("/srv").rule(rule));
    let files = |read: &[&str], written: &[&str]| {
        let case = read.iter().fold(Case::of("write_file"), |it, name| it.reading(name));
        written.iter().fold(case, |it, name| it.writing(name)).word(&policy)
    };
    let (inside, outside) = (&["a"][..], &["/tmp/a"][..]);
    for (read, written, word) in [
        (outside, &[][..], "allow"),
        (&[][..], outside, "allow"),
        (outside, outside, "allow"),
        (outside, inside, "ask"),
        (inside, outside, "ask"),
        (inside, inside, "ask"),
        (&[][..], &[][..], "ask"),
    ] {
        assert_eq!(files(read, written), word, "{read:?} read, {written:?} written");
    }
}

#[test]
fn a_folder_that_is_spelt_in_another_case_is_outside() {
    let bounds = policy(Policy::builder().mode(Mode::Unrestricted).root("/srv/Site"));
    let names = ["/srv/Site/a", "/srv/site/a", "/SRV/Site/a", "/srv/Sit\u{200d}e/a"];
    assert_eq!(words(&bounds, names), ["allow", "deny", "deny", "deny"]);
    let elsewhere = policy(bare().base("/srv").rule(Rule::allow("it is nobody's").outside("/srv")));
    assert_eq!(words(&elsewhere, ["/tmp/a", "/SRV/a"]), ["allow", "ask"]);
}
