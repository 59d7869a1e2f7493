//! When a pattern fits the name of a file. What refuses is broad, what allows is exact.

use toolwright::policy::{Mode, Policy, PolicyBuilder, Rule};

use super::scene::{Case, bare, policy};

fn denying(builder: PolicyBuilder, pattern: &str) -> Policy {
    policy(builder.mode(Mode::Unrestricted).rule(Rule::deny("no").writes(pattern)))
}

fn denied<'n>(builder: PolicyBuilder, pattern: &str, names: &[&'n str]) -> Vec<&'n str> {
    let policy = denying(builder, pattern);
    let is_denied = |name: &&&str| Case::of("write_file").writing(name).word(&policy) == "deny";
    names.iter().filter(is_denied).copied().collect()
}

fn allowed<'n>(builder: PolicyBuilder, pattern: &str, names: &[&'n str]) -> Vec<&'n str> {
    let policy = policy(builder.rule(Rule::allow("yes").writes(pattern)));
    let is_allowed = |name: &&&str| Case::of("write_file").writing(name).word(&policy) == "allow";
    names.iter().filter(is_allowed).copied().collect()
}

#[test]
fn folders_are_compared_segment_by_segment() {
    let names = [
        "src",
        "src/",
        "./src",
        "src/a/b",
        "a/../src/c",
        "src//d",
        "srcx",
        "srcx/a",
        "a/src",
        "src/../b",
    ];
    let inside = ["src", "src/", "./src", "src/a/b", "a/../src/c", "src//d"];
    for pattern in ["src/**", "src/", "./src/**", "./src/"] {
        assert_eq!(denied(bare(), pattern, &names), inside, "{pattern}");
        assert_eq!(allowed(bare(), pattern, &names), inside, "{pattern}");
    }
}

#[test]
fn a_pattern_without_a_slash_fits_in_every_folder() {
    let names = ["a.pem", "b/a.pem", "/b/a.pem", "../a.pem", "a.pem/b", "a.pemx", "pem"];
    assert_eq!(denied(bare(), "*.pem", &names), ["a.pem", "b/a.pem", "/b/a.pem", "../a.pem"]);
    assert_eq!(allowed(bare(), "./*.pem", &names), ["a.pem"]);
}

#[test]
fn a_star_stops_at_a_slash() {
    let names = ["src/a.rs", "src/b/a.rs"];
    assert_eq!(allowed(bare(), "src/*.rs", &names), ["src/a.rs"]);
    assert_eq!(allowed(bare(), "src/**/*.rs", &names), names);
}

#[test]
fn refusals_know_no_case_and_no_invisible_characters_and_allowances_do() {
    let names = [
        "notes/KEY.txt",
        "Notes/key.TXT",
        "notes/\u{212a}ey.txt",
        "notes/ke\u{200d}y.txt",
        "notes/key.txt",
    ];
    assert_eq!(denied(bare(), "notes/key.txt", &names), names);
    assert_eq!(denied(bare(), "NOTES/KEY.TXT", &names), names);
    assert_eq!(allowed(bare(), "notes/key.txt", &names), ["notes/key.txt"]);
}

#[test]
fn letters_of_every_script_are_letters() {
    let names = ["größe/ä", "GRÖẞE/Ä", "グラフ/図", "grosse/a"];
    assert_eq!(denied(bare(), "größe/?", &names), ["größe/ä", "GRÖẞE/Ä"]);
    assert_eq!(allowed(bare(), "グラフ/**", &names), ["グラフ/図"]);
    // Two spellings of one letter are two names.
    assert_eq!(allowed(bare(), "gro\u{308}ße/**", &names), [""; 0]);
}

#[test]
fn a_letter_is_the_same_wherever_it_stands_in_a_word() {
    let names = ["κωδικός.txt", "κωδικός", "ΚΩΔΙΚΌΣ.TXT", "κωδικόσ.txt", "κωδικό.txt"];
    assert_eq!(denied(bare(), "κωδικός*", &names), names[..4]);
    assert_eq!(denied(bare(), "ΚΩΔΙΚΌΣ.*", &names), [names[0], names[2], names[3]]);
}

#[test]
fn a_letter_that_is_two_in_another_case_is_one_letter_too() {
    let names = ["größe/ß", "GRÖSSE/ss", "grösse/s", "größe/ẞ"];
    assert_eq!(denied(bare(), "größe/?", &names), ["größe/ß", "grösse/s", "größe/ẞ"]);
    assert_eq!(denied(bare(), "größe/?", &["GRÖẞE/ẞ"]), ["GRÖẞE/ẞ"]);
    assert_eq!(denied(bare(), "grö??e/**", &["grösse/a", "GRÖSSE/a", "größe/a"]).len(), 3);
    assert_eq!(denied(bare(), "größe/ss", &names), ["größe/ß", "GRÖSSE/ss", "größe/ẞ"]);
    assert_eq!(denied(bare(), "*[ß]", &["aß", "aẞ"]), ["aß", "aẞ"]);
    assert_eq!(denied(bare(), "x?y", &["xŉy", "xﬃy", "xy"]), ["xŉy", "xﬃy"]);
    assert_eq!(allowed(bare(), "größe/?", &names), ["größe/ß", "größe/ẞ"]);
}

#[test]
fn characters_that_mean_something_in_patterns_are_plain_in_names_of_folders() {
    let based = || bare().base("/w[a]{b}");
    assert_eq!(allowed(based(), "./x*", &["xy", "/w[a]{b}/xz", "/wa/xy"]), ["xy", "/w[a]{b}/xz"]);
}

#[test]
fn relative_and_absolute_names_meet_in_the_base_folder() {
    let based = || bare().base("/srv");
    let names = ["src/a", "/srv/src/a", "../srv/src/a", "/src/a", "../src/a"];
    assert_eq!(allowed(based(), "src/**", &names), ["src/a", "/srv/src/a", "../srv/src/a"]);
    assert_eq!(allowed(based(), "/srv/src/**", &names), ["src/a", "/srv/src/a", "../srv/src/a"]);
    assert_eq!(denied(based(), "src/**", &names), ["src/a", "/srv/src/a", "../srv/src/a"]);
}

#[test]
fn without_a_base_names_that_may_be_meant_are_refused_and_not_allowed() {
    let names = ["src/a", "/srv/src/a", "../srv/src/a", "b"];
    assert_eq!(denied(bare(), "src/**", &names), ["src/a", "/srv/src/a", "../srv/src/a"]);
    assert_eq!(allowed(bare(), "src/**", &names), ["src/a"]);
}

#[test]
fn a_folder_around_the_pattern_is_refused_too() {
    let names = [".", "..", "a", "a/b", "a/b/c.txt", "a/c"];
    assert_eq!(
        denied(bare().base("/srv"), "a/b/*.txt", &names),
        [".", "..", "a", "a/b", "a/b/c.txt"]
    );
    // For any folder: the one in which everything lies.
    assert_eq!(denied(bare().base("/srv"), "**/b/*.txt", &names), [".", "..", "a/b/c.txt"]);
    assert_eq!(allowed(bare().base("/srv"), "a/b/*.txt", &names), ["a/b/c.txt"]);
}

#[test]
fn a_folder_that_is_read_counts_for_a_pattern_that_begins_in_it() {
    let rules = [Rule::deny("no").reads("secrets/**"), Rule::deny("no").reads("*.pem")];
    let policy = policy(bare().mode(Mode::Unrestricted).base("/srv").rules(rules));
    let words = [".", "secrets", "src", "src/a.pem"]
        .map(|it| Case::of("read_file").reading(it).word(&policy));
    assert_eq!(words, ["deny", "deny", "allow", "deny"]);
}
