//! Profiles select tools by name, group and tag; what matches nothing is an error, because a misspelt
//! word would open or close something unnoticed.

use toolwright::{Catalog, Profile, ProfileError, Profiles, Registry, tool};

use crate::support::{call, executor, kind};

/// Reads a file.
#[tool(group = "file", effect = read, tags("read"))]
async fn file_read() -> &'static str {
    "read"
}

/// Writes a file.
#[tool(group = "file", tags("write"))]
async fn file_write() -> &'static str {
    "wrote"
}

/// Shows what changed.
#[tool(group = "git", effect = read, tags("read"))]
async fn git_read() {}

/// Commits.
#[tool(group = "git", tags("write"))]
async fn git_write() {}

/// Asks for a review.
#[tool(tags("ask"))]
async fn request_review() {}

const TOOLS: [toolwright::Handle; 5] = [FILE_READ, FILE_WRITE, GIT_READ, GIT_WRITE, REQUEST_REVIEW];

fn catalog() -> Catalog {
    Registry::of(TOOLS).unwrap().catalog()
}

fn selected(patterns: &[&str]) -> Vec<String> {
    let profile = Profile::new(patterns).unwrap();
    catalog().select(&profile).unwrap().names().map(str::to_owned).collect()
}

/// S4.46: a profile applied to the tools gives those that it selects; the others cannot be called.
#[tokio::test]
async fn what_a_profile_does_not_select_is_neither_shown_nor_callable() {
    let executor = executor(TOOLS);
    let profile = Profile::new(["tag:read"]).unwrap();
    let reader = executor.pinned(&executor.catalog().select(&profile).unwrap());
    assert_eq!(reader.call(&call("file_read")).await.text(), "read");
    let refused = reader.call(&call("file_write")).await;
    assert_eq!(kind(&refused), "unknown_tool");
    assert!(!refused.text().contains("git_write"), "{}", refused.text());
    assert_eq!(executor.call(&call("file_write")).await.text(), "wrote");
}

/// S4.47: an unknown profile is an error, and never everything, as the row has it.
#[test]
fn an_unknown_profile_is_an_error_and_selects_nothing() {
    let profiles = Profiles::of([
        ("developer", Profile::new(["*"]).unwrap()),
        ("reviewer", Profile::new(["tag:read"]).unwrap()),
    ]);
    assert!(profiles.get("developer").is_ok());
    let error = profiles.get("reviwer").unwrap_err();
    assert_eq!(error.to_string(), "no profile is called `reviwer`; did you mean `reviewer`?");
    let error = profiles.get("x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no profile is called `x`; expected one of `developer`, `reviewer`"
    );
    assert_eq!(
        Profiles::default().get("x").unwrap_err().to_string(),
        "no profile is called `x`; there are none"
    );
}

/// S4.48: `*` alone is every tool.
#[test]
fn a_star_alone_selects_every_tool() {
    assert_eq!(selected(&["*"]).len(), 5);
}

/// S4.49: a pattern that ends in `*` is the beginning of a name, another one the whole name.
#[test]
fn a_pattern_with_a_star_is_a_beginning_and_one_without_is_the_name() {
    assert_eq!(selected(&["file_*"]), ["file_read", "file_write"]);
    assert_eq!(selected(&["file_read", "git_*"]), ["file_read", "git_read", "git_write"]);
    assert_eq!(selected(&["request_review", "file_read"]), ["file_read", "request_review"]);
}

/// The other tools have what `read_*` and `read` name in the middle or at the end of theirs.
#[test]
fn a_beginning_fits_at_the_beginning_of_a_name_a_group_or_a_tag_and_nowhere_else() {
    let named =
        |name: &str, group: &str, tag: &str| FILE_READ.renamed(name).grouped(group).tagged(tag);
    let registry = Registry::of([
        named("read_x", "read_group", "read_tag"),
        named("unread_x", "unread_group", "unread_tag"),
        named("x_read_x", "x_read_group", "x_read_tag"),
        named("unread", "group_read", "tag_read"),
    ]);
    let catalog = registry.unwrap().catalog();
    let selected = |patterns: &[&str]| -> Vec<String> {
        let selected = catalog.select(&Profile::new(patterns).unwrap()).unwrap();
        selected.names().map(str::to_owned).collect()
    };
    let others = ["unread_x", "x_read_x", "unread"];
    for pattern in
        ["read_*", "group:read_*", "tag:read_*", "read_x", "group:read_group", "tag:read_tag"]
    {
        assert_eq!(selected(&[pattern]), ["read_x"], "{pattern}");
        assert_eq!(selected(&["*", &format!("!{pattern}")]), others, "!{pattern}");
    }
    assert_eq!(selected(&["unread*"]), ["unread_x", "unread"]);
    assert_eq!(selected(&["unread"]), ["unread"], "a whole name is no beginning");
}

#[test]
fn groups_and_tags_select_and_exclusions_win() {
    assert_eq!(selected(&["group:git"]), ["git_read", "git_write"]);
    assert_eq!(selected(&["tag:re*"]), ["file_read", "git_read"]);
    assert_eq!(selected(&["group:*"]).len(), 4, "one tool is in no group");
    assert_eq!(selected(&["*", "!tag:write"]), ["file_read", "git_read", "request_review"]);
    assert_eq!(selected(&["!git_*", "group:file", "tag:read"]), ["file_read", "file_write"]);
}

#[test]
fn a_pattern_that_matches_nothing_is_an_error_also_where_it_excludes() {
    for (patterns, words) in [
        (&["file_raed"][..], "`file_raed` matches no tool; did you mean `file_read`"),
        (&["*", "!file_wirte"], "`!file_wirte` matches no tool; did you mean `file_write`"),
        (&["group:fil"], "`group:fil` matches no tool; did you mean `file`"),
        (&["tag:raed"], "`tag:raed` matches no tool; did you mean `read`"),
        (&["zzz*"], "the pattern `zzz*` matches no tool"),
        (&["*", "!*"], "the profile selects no tool"),
        (&["!tag:read"], "the profile selects no tool"),
        (&[], "the profile selects no tool"),
    ] {
        let error = catalog().select(&Profile::new(patterns).unwrap()).unwrap_err().to_string();
        assert!(error.contains(words), "{patterns:?}: {error}");
    }
    let empty = Registry::empty().catalog().select(&Profile::new(["*"]).unwrap());
    assert!(matches!(empty, Err(ProfileError::NoMatch { .. })));
}

#[test]
fn what_is_no_pattern_is_refused_with_the_forms_that_there_are() {
    for written in ["", "!", "a*b", "**", "group:", "!tag:", "!!a", "a b"] {
        let error = Profile::new([written]).unwrap_err();
        assert_eq!(error.pattern, written);
        assert!(error.to_string().contains("is no pattern: "), "{error}");
    }
}

#[test]
fn profiles_are_read_from_values_and_checked_all_at_once() {
    let profiles: Profiles = serde_json::from_str(
        r#"{"all": ["*"], "old": ["gone_*"], "typo": ["file_read", "!gti_*"]}"#,
    )
    .unwrap();
    let error = profiles.check(&catalog()).unwrap_err();
    let ProfileError::Several { problems } = &error else { panic!("{error}") };
    let names: Vec<&str> = problems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["old", "typo"]);
    assert!(error.to_string().contains("\n- `typo`: the pattern `!gti_*` matches no tool"));
    let text = serde_json::to_string(profiles.get("typo").unwrap()).unwrap();
    assert_eq!(text, r#"["file_read","!gti_*"]"#);
    let wrong = serde_json::from_str::<Profiles>(r#"{"all": ["a*b"]}"#).unwrap_err().to_string();
    assert!(wrong.contains("`a*b` is no pattern"), "{wrong}");
}

#[test]
fn a_catalog_that_was_narrowed_is_only_narrowed_further() {
    let files = catalog().select(&Profile::new(["group:file"]).unwrap()).unwrap();
    assert!(files.select(&Profile::new(["group:git"]).unwrap()).is_err());
    let reading = files.select(&Profile::new(["*", "!tag:write"]).unwrap()).unwrap();
    assert_eq!(reading.names().collect::<Vec<_>>(), ["file_read"]);
}
