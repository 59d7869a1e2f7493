//! Rules over the files that calls touch.

use toolwright::policy::{Mode, Rule, WhenUnknown};
use toolwright::{Effect, File, Footprint, ResourceKind};

use super::scene::{Case, bare, policy};

struct Mailbox;

impl ResourceKind for Mailbox {
    const LABEL: &'static str = "mailbox";
}

#[test]
fn a_call_that_does_not_say_what_it_touches_may_touch_anything() {
    let deny = policy(bare().mode(Mode::Unrestricted).rule(Rule::deny("no").writes("vendor/**")));
    assert_eq!(Case::of("bash").undeclared().word(&deny), "deny");
    let asks = Rule::ask("sure?").reads("vendor/**");
    let ask = policy(bare().mode(Mode::Unrestricted).rule(asks));
    assert_eq!(Case::of("bash").undeclared().word(&ask), "ask");
    assert_eq!(Case::of("clock").effect(Effect::Read).undeclared().word(&ask), "ask");
    let allow = policy(bare().rule(Rule::allow("yes").writes("**")));
    assert_eq!(Case::of("bash").undeclared().word(&allow), "ask");
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let deny = policy(bare().mode(Mode::Unrestricted).rule(Rule::deny("no").writes("**")));
    assert_eq!(Case::of("clock").effect(Effect::Read).undeclared().word(&deny), "allow");
}

#[test]
fn all_files_of_a_kind_are_everything_and_another_kind_is_nothing() {
    let deny = policy(bare().mode(Mode::Unrestricted).rule(Rule::deny("no").writes("vendor/**")));
    let touching = |footprint| Case { footprint: Some(footprint), ..Case::of("bash") };
    assert_eq!(touching(Footprint::nothing().writing::<File>(None)).word(&deny), "deny");
    assert_eq!(touching(Footprint::nothing().writing::<Mailbox>(None)).word(&deny), "allow");
    assert_eq!(touching(Footprint::nothing().writing::<Mailbox>("vendor/a")).word(&deny), "allow");
    let allow = policy(bare().rule(Rule::allow("yes").writes("**")));
    assert_eq!(touching(Footprint::nothing().writing::<File>(None)).word(&allow), "ask");
}

#[test]
fn one_file_refuses_and_every_file_has_to_be_allowed() {
    let both = || Case::of("write_file").writing("src/a").writing("b");
    let deny = policy(bare().mode(Mode::Unrestricted).rule(Rule::deny("no").writes("src/**")));
    assert_eq!(both().word(&deny), "deny");
    let allow = policy(bare().rule(Rule::allow("yes").writes("src/**")));
    assert_eq!(both().word(&allow), "ask");
    assert_eq!(Case::of("write_file").writing("src/a").writing("src/b").word(&allow), "allow");
    // A rule over files that are written says nothing of a call that writes none.
    assert_eq!(Case::of("write_file").reading("src/a").word(&allow), "ask");
}

#[test]
fn a_deny_may_ask_where_nobody_can_tell() {
    let rule = Rule::deny("no").writes("vendor/**").when_unknown(WhenUnknown::Ask);
    let policy = policy(bare().mode(Mode::Unrestricted).rule(rule));
    assert_eq!(Case::of("bash").undeclared().word(&policy), "ask");
    assert_eq!(Case::of("bash").writing("vendor/a").word(&policy), "deny");
}

#[test]
fn outside_is_outside_of_every_folder_whether_read_or_written() {
    let rule = Rule::deny("no").outside("/srv").outside("/tmp/build");
    let policy = policy(bare().mode(Mode::Unrestricted).base("/srv").rule(rule));
    let inside = ["a", "./a/../b", "/srv", "/srv/a", "/tmp/build/a", "../tmp/build"];
    let outside = ["..", "../srvx", "/srvx", "a/../../etc", "/tmp/build/../a", "/", "/srv/../etc"];
    for name in inside {
        assert_eq!(Case::of("write_file").writing(name).word(&policy), "allow", "{name}");
        assert_eq!(Case::of("read_file").reading(name).word(&policy), "allow", "{name}");
    }
    for name in outside {
        assert_eq!(
            Case::of("write_file").reading("a").writing(name).word(&policy),
            "deny",
            "{name}"
        );
        assert_eq!(
            Case::of("read_file").reading(name).writing("a").word(&policy),
            "deny",
            "{name}"
        );
    }
    assert_eq!(Case::of("bash").undeclared().word(&policy), "deny");
    assert_eq!(Case::of("clock").word(&policy), "allow");
}
