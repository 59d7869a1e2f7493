//! Tools that do not say which files they touch.

use serde_json::json;
use toolwright::policy::{Mode, Policy, PolicyBuilder, PolicyDecision, Protection, Rule};
use toolwright::{Danger, DynamicTool, Effect, Footprint, Registry, ToolError};

use super::scene::{BASH, Case, SEND_MAIL, catalog, policy, refused};

const WRITES: &str = "`send_mail` does not say what it writes: add `writes()`, or list it under `touches_no_files` of the policy";

fn lax() -> PolicyBuilder {
    Policy::builder().mode(Mode::AutoSafe).base("/srv")
}

fn mail() -> Case {
    Case::of("send_mail").undeclared()
}

fn reasons(policy: &Policy, case: &Case) -> Vec<String> {
    match case.judged_by(policy) {
        PolicyDecision::Ask { reasons, .. } => reasons,
        other => panic!("{other:?}"),
    }
}

fn remote(name: &str) -> DynamicTool {
    let schema = json!({"type": "object"});
    DynamicTool::new(name, "Does something far away.", schema, |_, _| async {
        Ok::<_, ToolError>(())
    })
    .group("mail")
}

#[test]
fn a_call_that_does_not_say_what_it_writes_is_asked_about_for_one_reason() {
    let policy = policy(lax().root("/srv"));
    assert_eq!(reasons(&policy, &mail()), [WRITES]);
    let read = Case::of("clock").effect(Effect::Read).danger(Danger::Safe).undeclared();
    let reads = "`clock` does not say what it reads: add `reads()`, or list it under `touches_no_files` of the policy";
    assert_eq!(reasons(&policy, &read), [reads]);
}

#[test]
fn the_tools_own_reason_is_the_first_and_what_it_does_not_say_comes_after_the_rules() {
    let rule = Rule::ask("somebody reads it").named("mails").tool("send_mail");
    let policy = policy(Policy::builder().rule(rule));
    let case = Case { approval: Some("it costs"), ..mail() };
    let mode = "the mode `interactive` asks about moderate calls";
    assert_eq!(reasons(&policy, &case), ["it costs", "somebody reads it", WRITES, mode]);
    insta::assert_snapshot!(policy.explain(&case.question()));
}

#[test]
fn a_tool_that_is_listed_by_its_name_or_group_is_not_asked_about() {
    let text = |list: &str| lax().text("p", &format!("version = 1\ntouches_no_files = {list}\n"));
    for listing in [
        lax().touches_no_files(["send_mail"]),
        lax().touches_no_files(["group:mail"]),
        text(r#"["send_mail"]"#),
        text(r#"["group:mail"]"#),
    ] {
        let policy = policy(listing.root("/srv"));
        assert_eq!(mail().word(&policy), "allow");
        assert_eq!(Case::of("delete_file").undeclared().word(&policy), "ask");
        let listed: Vec<_> = policy.touching_no_files(&catalog()).map(str::to_owned).collect();
        assert_eq!(listed, ["send_mail"]);
    }
}

#[test]
fn a_listed_tool_is_judged_by_the_files_that_a_call_names() {
    let policy = policy(lax().touches_no_files(["send_mail"]));
    assert_eq!(Case::of("send_mail").writing(".git/config").word(&policy), "deny");
    assert_eq!(Case::of("send_mail").reading("server.pem").word(&policy), "ask");
}

#[test]
fn the_list_takes_away_no_question_but_that_for_files() {
    let rule = Rule::ask("somebody reads it").named("mails").tool("send_mail");
    let asking = policy(lax().touches_no_files(["send_mail"]).rule(rule));
    assert_eq!(reasons(&asking, &mail()), ["somebody reads it"]);
    let strict = policy(Policy::builder().touches_no_files(["send_mail"]));
    let mode = "the mode `interactive` asks about moderate calls";
    assert_eq!(reasons(&strict, &mail()), [mode]);
    let own = Rule::deny("it is generated").named("generated").writes("gen/**");
    let refusing = lax().rule(own.clone());
    assert_eq!(mail().word(&policy(refusing)), "deny", "it may write there");
    assert_eq!(mail().word(&policy(lax().rule(own).touches_no_files(["send_mail"]))), "allow");
}

#[test]
fn the_list_does_not_count_against_the_protection_of_the_journal() {
    let known = || lax().journal("/var/calls.db");
    let needed = "`send_mail` does not say what it writes: add `writes()`, or an allow with `touches` to the policy";
    for builder in [known(), known().touches_no_files(["send_mail"])] {
        assert_eq!(reasons(&policy(builder), &mail()), [needed]);
    }
    let listed = policy(known().touches_no_files(["send_mail"]));
    let explained = listed.explain(&mail().question());
    assert_eq!(explained.because(), ["protect-journal"]);
    let named_off = known().touches_no_files(["send_mail"]).without([Protection::Journal]);
    assert_eq!(mail().word(&policy(named_off)), "allow");
    let vouched = Rule::allow("it is ours").tool("send_mail").touches([""; 0], [""; 0]);
    assert_eq!(mail().word(&policy(known().rule(vouched))), "allow");
}

#[test]
fn the_list_does_not_count_for_a_tool_that_takes_the_name_of_a_listed_one_at_run_time() {
    let policy = policy(lax().touches_no_files(["send_mail"]));
    let replaced = Case { came_at_run_time: true, ..mail() };
    let needed = "`send_mail` does not say what it writes: add `footprint_by`, or an allow with `touches` to the policy";
    assert_eq!(reasons(&policy, &replaced), [needed]);
}

#[test]
fn of_a_listed_group_only_what_may_be_listed_is() {
    let registry = Registry::of([SEND_MAIL.into(), BASH.grouped("mail"), remote("later").into()]);
    let catalog = registry.expect("tools of different names").catalog();
    let policy = lax().touches_no_files(["group:mail"]).build(&catalog).expect("a policy");
    let listed: Vec<_> = policy.touching_no_files(&catalog).collect();
    assert_eq!(listed, ["send_mail"]);
    let bash = Case::of("bash").undeclared();
    let needed = "`bash` does not say what it writes: add an allow with `touches` to the policy";
    assert_eq!(reasons(&policy, &bash), [needed]);
}

#[test]
fn a_name_that_cannot_be_listed_is_an_error_at_its_place() {
    let text = "version = 1\ntouches_no_files = [\n\"send_mial\",\n\"send_*\",\n\"bash\",\n\"remote\",\n\"late_one\",\n\
                \"group:mial\",\n\"group:far\",\n\"group:\",\n\"\",\n3,\n]\narriving = { tools = [\"late_*\"] }\n";
    let tools: [toolwright::Registration; 3] =
        [SEND_MAIL.into(), BASH.into(), remote("remote").group("far").into()];
    let catalog = Registry::of(tools).expect("tools of different names").catalog();
    let error = Policy::builder().text("p", text).build(&catalog).expect_err("a wrong policy");
    insta::assert_snapshot!(error);
    let error = refused(Policy::builder().touches_no_files(["send_mial"]));
    assert!(error.to_string().contains("did you mean `send_mail`"), "{error}");
}

#[test]
fn a_tool_that_runs_programs_is_known_by_its_arguments_or_its_result() {
    let of = |properties: serde_json::Value, returns: serde_json::Value| {
        let tool = DynamicTool::new(
            "run",
            "Runs.",
            json!({"type": "object", "properties": properties}),
            |_, _| async { Ok::<_, ToolError>(()) },
        );
        let tool = tool.output_schema(json!({"type": "object", "properties": returns}));
        let catalog = Registry::of([tool]).expect("a tool").catalog();
        let policy = lax().build(&catalog).expect("a policy");
        let [found] = &policy.lint(&catalog)[..] else { panic!("one tool") };
        !found.message.contains("footprint_by")
    };
    for key in
        ["program", "Command", "cmd", "argv", "shell", "script", "executable", "command_line"]
    {
        assert!(of(json!({key: {"type": "string"}}), json!({})), "{key}");
    }
    assert!(of(json!({}), json!({"exit_code": {"type": "integer"}})));
    assert!(!of(json!({"code": {"type": "string"}}), json!({"code": {"type": "integer"}})));
}

#[test]
fn every_tool_that_is_asked_about_for_want_of_files_is_found_before_any_call() {
    let found = |builder: PolicyBuilder| {
        let found = policy(builder).lint(&catalog());
        found.into_iter().map(|it| it.tool).collect::<Vec<_>>()
    };
    assert_eq!(found(lax()), ["send_mail", "bash"], "`clock` reads");
    assert_eq!(found(lax().root("/srv")), ["send_mail", "clock", "bash"], "there are bounds");
    assert_eq!(found(lax().touches_no_files(["send_mail"])), ["bash"]);
    assert_eq!(found(lax().plan(true)), ["send_mail", "bash"]);
    assert_eq!(found(lax().without(Protection::ALL)), [""; 0]);
    assert_eq!(found(Policy::builder().mode(Mode::Strict)), ["send_mail"], "`bash` is refused");
    let saying = remote("later").footprint_by(|_| Footprint::nothing());
    let catalog = Registry::of([saying]).expect("a tool").catalog();
    assert!(lax().build(&catalog).expect("a policy").lint(&catalog).is_empty());
}
