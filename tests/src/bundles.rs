//! A bundle brings tools and what they need at once, and what it brings lies beneath what the application says.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use toolwright::policy::{Mode, Policy, PolicyBuilder, Protection, Rule};
use toolwright::{
    BuildProblem, Bundle, DynamicTool, Executor, ExecutorBuilder, Registration, Registry, Resolver,
    ToolError, tool,
};

use crate::support::{call, kind};

struct Shelf(&'static str);

/// Reads what stands on the shelf.
#[tool(unlinked, effect = read, reads())]
async fn read_shelf(shelf: &Shelf) -> &'static str {
    shelf.0
}

/// Clears the shelf.
#[tool(unlinked, effect = once, writes())]
async fn clear_shelf() {}

/// A shelf, with rules for its tools.
struct Library(PolicyBuilder);

impl Bundle for Library {
    fn name(&self) -> String {
        "library".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let executor = executor.tools([READ_SHELF, CLEAR_SHELF]).service(Shelf("Emma"));
        executor.policy_defaults(self.0)
    }
}

fn builder() -> ExecutorBuilder {
    Executor::builder(Registry::empty())
}

fn clearing(rule: Rule) -> PolicyBuilder {
    Policy::builder().rule(rule.named("clearing").tool("clear_shelf"))
}

#[tokio::test]
async fn one_line_brings_tools_their_service_and_their_rules() {
    let rule = clearing(Rule::allow("it is filled again"));
    let executor = builder().with(Library(rule)).build().unwrap();
    assert_eq!(executor.call(&call("read_shelf")).await.text(), "Emma");
    assert!(!executor.call(&call("clear_shelf")).await.is_error());
}

#[test]
fn a_bundle_that_is_given_twice_is_an_error_with_both_places() {
    let library = || Library(Policy::builder());
    let error = builder().with(library()).with(library()).build().unwrap_err();
    let [BuildProblem::BundleTwice { name, first, second }] = &*error.problems else {
        panic!("{error}")
    };
    assert_eq!((name.as_str(), first.file(), second.file()), ("library", file!(), file!()));
    assert!(first.column() < second.column(), "{error}");
    assert!(error.to_string().contains("`library` is given twice, at "), "{error}");
}

#[tokio::test]
async fn a_rule_of_the_application_replaces_the_one_of_its_name_and_any_objection_counts() {
    let denies = || Library(clearing(Rule::deny("it is never cleared")));
    let refused = builder().with(denies()).policy(Policy::builder().mode(Mode::AutoSafe));
    let answer = refused.build().unwrap().call(&call("clear_shelf")).await;
    assert_eq!(kind(&answer), "denied");

    let own = clearing(Rule::allow("we fill it again"));
    let executor = builder().policy(own).with(denies()).build().unwrap();
    assert!(!executor.call(&call("clear_shelf")).await.is_error());

    let own = Policy::builder().rule(Rule::deny("not here").named("not-here").tool("clear_shelf"));
    let allows = Library(clearing(Rule::allow("it is filled again")));
    let executor = builder().with(allows).policy(own).build().unwrap();
    assert_eq!(kind(&executor.call(&call("clear_shelf")).await), "denied");
}

#[tokio::test]
async fn the_mode_of_the_application_counts_before_that_of_a_bundle_also_from_a_file() {
    let strict = || Library(Policy::builder().mode(Mode::Strict));
    let executor = builder().with(strict()).build().unwrap();
    assert_eq!(kind(&executor.call(&call("clear_shelf")).await), "approval_required");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, "version = 1\nmode = \"auto-safe\"\n").unwrap();
    let executor = builder().with(strict()).policy(Policy::builder().load(&file)).build().unwrap();
    assert!(!executor.call(&call("clear_shelf")).await.is_error());
}

#[tokio::test]
async fn rules_of_a_bundle_do_not_count_where_nothing_is_restricted() {
    let denies = Library(clearing(Rule::deny("it is never cleared")));
    let executor = builder().unrestricted().with(denies).build().unwrap();
    assert!(!executor.call(&call("clear_shelf")).await.is_error());
}

#[test]
fn a_bundle_switches_no_protection_off() {
    let off = Library(Policy::builder().without([Protection::Env]));
    let error = builder().with(off).build().unwrap_err().to_string();
    assert!(error.contains("defaults switch the protection `protect-env` off"), "{error}");
}

#[test]
fn a_tool_of_a_bundle_and_one_of_the_application_with_one_name_are_an_error_with_their_places() {
    let refused = |tool: Registration| {
        let registry = Registry::of([tool]).unwrap();
        let bundle = Library(Policy::builder());
        Executor::builder(registry).with(bundle).build().unwrap_err()
    };
    let same = refused(READ_SHELF.into());
    assert!(matches!(&*same.problems, [BuildProblem::Registry(_)]), "{same}");
    assert!(same.to_string().contains("is given twice; keep one"), "{same}");
    let other = refused(OTHER.renamed(READ_SHELF.name()));
    assert_eq!(other.to_string().matches("bundles.rs").count(), 2, "{other}");
}

/// Reads elsewhere.
#[tool(unlinked, effect = read, reads())]
async fn other() {}

/// Cannot be used here.
struct Broken;

impl Bundle for Broken {
    fn name(&self) -> String {
        "broken".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let (what, why) = ("broken".to_owned(), "its program is not installed".to_owned());
        executor.problem(BuildProblem::Unavailable { what, why })
    }
}

#[test]
fn what_a_bundle_reports_is_an_error_of_build_beside_all_others() {
    let error = builder().with(Broken).limit(0).build().unwrap_err();
    assert_eq!(error.problems.len(), 2, "{error}");
    assert!(error.to_string().contains("its program is not installed"), "{error}");
}

fn said(name: &str) -> DynamicTool {
    let text = name.to_owned();
    DynamicTool::new(name, "Says its name.", json!({"type": "object"}), move |_, _| {
        let text = text.clone();
        async move { Ok(text) }
    })
}

#[tokio::test]
async fn resolvers_are_asked_in_their_order_and_the_first_that_knows_a_tool_brings_it() {
    let executor = builder()
        .unrestricted()
        .resolver(|name: &str| (name == "one").then(|| said(name)))
        .resolver(|name: &str| ["one", "two"].contains(&name).then(|| said(name).title("second")))
        .build()
        .unwrap();
    assert_eq!(executor.call(&call("two")).await.text(), "two");
    assert_eq!(executor.call(&call("one")).await.text(), "one");
    assert_eq!(executor.registry().get("one").unwrap().title, None);
    assert_eq!(kind(&executor.call(&call("three")).await), "unknown_tool");
}

/// Names its tools from the second question on.
#[derive(Default)]
struct Slow(AtomicU32);

impl Resolver for Slow {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
        async { Ok(None) }.boxed()
    }

    fn announced(&self) -> BoxFuture<'_, Result<Vec<Registration>, ToolError>> {
        let answer = match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(ToolError::new("unreachable", "the server does not answer")),
            1 => Ok(vec![said("far").into()]),
            _ => panic!("it has named its tools"),
        };
        async { answer }.boxed()
    }
}

#[tokio::test]
async fn what_a_resolver_announces_is_registered_once_and_a_failure_is_asked_again() {
    let executor = builder().resolver(Slow::default()).build().unwrap();
    let error = executor.discover_tools().await.unwrap_err();
    assert_eq!(error.message(), "the server does not answer");
    for _ in 0..2 {
        executor.discover_tools().await.unwrap();
        assert!(executor.registry().get("far").is_some());
    }
}

#[tokio::test]
async fn an_announced_tool_that_cannot_be_used_is_left_out_and_the_others_are_registered() {
    /// Announces a sound tool after others.
    struct Odd;
    impl Resolver for Odd {
        fn resolve<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
            async { Ok(None) }.boxed()
        }

        fn announced(&self) -> BoxFuture<'_, Result<Vec<Registration>, ToolError>> {
            let of = |name: &str, schema| {
                DynamicTool::new(name, "Odd.", schema, |_, _| async { Ok(1) }).into()
            };
            let looks_ahead = json!({"q": {"type": "string", "pattern": "^(?!-)"}});
            let odd = vec![
                of("looks_ahead", json!({"type": "object", "properties": looks_ahead})),
                of("no_object", json!({})),
                of("no name", json!({"type": "object"})),
                of("absent", json!({"type": "object", "required": ["q"]})),
                said("far").into(),
            ];
            async { Ok(odd) }.boxed()
        }
    }
    let executor = builder().resolver(Odd).build().unwrap();
    executor.discover_tools().await.unwrap();
    assert_eq!(executor.catalog().names().collect::<Vec<_>>(), ["far"]);
}

#[tokio::test]
async fn an_announced_tool_with_the_name_of_another_is_an_error() {
    /// Announces what is there.
    struct Twin;
    impl Resolver for Twin {
        fn resolve<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<Option<Registration>, ToolError>> {
            async { Ok(None) }.boxed()
        }

        fn announced(&self) -> BoxFuture<'_, Result<Vec<Registration>, ToolError>> {
            async { Ok(vec![said("clear_shelf").into()]) }.boxed()
        }
    }
    let executor = builder().tools([CLEAR_SHELF]).resolver(Twin).build().unwrap();
    let error = executor.discover_tools().await.unwrap_err();
    assert!(error.source().unwrap().to_string().contains("`clear_shelf`"), "{error}");
}
