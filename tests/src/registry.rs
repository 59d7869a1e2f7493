//! Tools come and go while a program runs; whoever wants to know is told, and calls go on.

mod events;
mod growth;
mod stress;

use toolwright::{Call, Danger, Definition, Effect, Handle, Registry, RegistryProblem, tool};

use crate::support::{Log, NEVER_ENDS, PING, builder, call, executor, kind};

/// Greets.
#[tool(effect = read, group = "words", tags("kind"))]
async fn greet() -> &'static str {
    "hello"
}

fn names(registry: &Registry) -> Vec<String> {
    registry.catalog().names().map(str::to_owned).collect()
}

/// S1.1: tools are registered and unregistered by name while the program runs.
/// S2.28: the registry is a type of its own, which is made, shared and changed.
#[tokio::test]
async fn a_tool_that_is_registered_can_be_called_until_it_is_unregistered() {
    let executor = executor([PING]);
    let registry = executor.registry();
    assert_eq!(kind(&executor.call(&call("greet")).await), "unknown_tool");
    registry.register(GREET).unwrap();
    assert_eq!(executor.call(&call("greet")).await.text(), "hello");
    assert_eq!(executor.call(&call("ping")).await.text(), "pong");
    // One that was there when the executor was built, then one that came later.
    assert_eq!(registry.unregister("ping").unwrap().name, "ping");
    assert_eq!(kind(&executor.call(&call("ping")).await), "unknown_tool");
    assert!(registry.get("ping").is_none());
    assert_eq!(names(registry), ["greet"]);
    assert_eq!(executor.call(&call("greet")).await.text(), "hello");
    assert_eq!(registry.unregister("greet").unwrap().name, "greet");
    assert_eq!(kind(&executor.call(&call("greet")).await), "unknown_tool");
    registry.register(PING).unwrap();
    assert_eq!(executor.call(&call("ping")).await.text(), "pong");
    assert_eq!(names(registry), ["ping"]);
}

/// S1.2: a name gives its definition; every tool is listed.
/// S2.9: look-up and listing are in one place.
/// S2.50: tools are looked up by name, and their schemas with them.
#[test]
fn a_definition_is_found_by_its_name_and_all_are_listed_in_the_order_they_came() {
    let registry = Registry::of([PING]).unwrap();
    registry.register_all([GREET, NEVER_ENDS]).unwrap();
    registry.unregister("ping").unwrap();
    registry.register(PING).unwrap();
    assert_eq!(names(&registry), ["greet", "never_ends", "ping"]);
    let greet = registry.get("greet").unwrap();
    assert_eq!((greet.effect, greet.group.as_deref()), (Effect::Read, Some("words")));
    assert_eq!(greet.input_schema["type"], "object");
    assert!(registry.get("pong").is_none());
}

/// S2.61: registering, looking up and listing are tested, refusals included.
#[test]
fn what_cannot_join_changes_nothing_and_every_reason_is_told() {
    let registry = Registry::of([PING]).unwrap();
    let generation = registry.generation();
    let error = registry
        .register_all([GREET.into(), GREET.renamed("ping"), GREET.renamed("two words")])
        .unwrap_err();
    let [RegistryProblem::Name { .. }, RegistryProblem::Duplicate { name, first, second }] =
        error.problems.as_slice()
    else {
        panic!("{error}")
    };
    assert_eq!((name.as_str(), *first, *second), ("ping", PING.location(), GREET.location()));
    assert_eq!((names(&registry), registry.generation()), (vec!["ping".to_owned()], generation));
    let twice = registry.register_all([GREET, GREET]).unwrap_err();
    assert!(matches!(twice.problems.as_slice(), [RegistryProblem::Duplicate { .. }]), "{twice}");
}

#[test]
fn a_name_that_nobody_could_call_or_select_is_refused_with_the_reason() {
    for (name, reason) in [
        ("", "it is empty"),
        ("a b", "it has white space or control characters"),
        ("all*", "profiles take `*` and a leading `!` for patterns"),
        ("group:a", "profiles take `group:` and `tag:` for groups and tags"),
    ] {
        let error = Registry::of([PING.renamed(name)]).unwrap_err().to_string();
        assert!(error.contains(reason), "{name:?}: {error}");
    }
    assert!(Registry::of([PING.renamed("x".repeat(257))]).is_err());
}

#[test]
fn a_name_that_no_tool_has_is_an_error_with_those_that_were_probably_meant() {
    let registry = Registry::of([PING, GREET]).unwrap();
    let error = registry.unregister("greeet").unwrap_err();
    assert_eq!(error.to_string(), "no tool is called `greeet`; did you mean `greet`?");
    assert!(registry.enable("nothing").is_err() && registry.disable("nothing").is_err());
}

#[tokio::test]
async fn a_disabled_tool_is_not_shown_and_says_so_to_who_calls_it() {
    let executor = executor([PING, GREET]);
    let registry = executor.registry();
    assert!(registry.disable("greet").unwrap());
    assert!(!registry.disable("greet").unwrap(), "it was disabled already");
    assert_eq!(names(registry), ["ping"]);
    assert_eq!(*registry.disabled(), ["greet".into()]);
    let answer = executor.call(&call("greet")).await;
    assert_eq!(kind(&answer), "disabled_tool");
    assert!(registry.register(GREET).is_err(), "its name is still taken");
    assert!(registry.enable("greet").unwrap());
    assert_eq!(executor.call(&call("greet")).await.text(), "hello");
    assert_eq!(names(registry), ["ping", "greet"], "it is where it was");
}

#[tokio::test]
async fn at_registration_a_tool_gets_another_name_description_group_and_more_tags() {
    let registered = GREET.renamed("hello").prefixed("en_").described("Says it in English.");
    let executor = builder([]).build().unwrap();
    executor.registry().register(registered.grouped("english").tagged("short")).unwrap();
    let definition = executor.registry().get("en_hello").unwrap();
    let Definition { description, group, tags, .. } = &*definition;
    assert_eq!((description.as_str(), group.as_deref()), ("Says it in English.", Some("english")));
    assert_eq!(tags, &["kind", "short"]);
    assert_eq!(executor.call(&call("en_hello")).await.text(), "hello");
    assert_eq!(kind(&executor.call(&call("greet")).await), "unknown_tool");
    assert_eq!(definition.location, GREET.location());
}

/// Which team looks after a tool.
#[derive(Debug, PartialEq)]
struct Team(&'static str);

/// How much a call costs.
struct Price(u32);

#[test]
fn metadata_of_the_applications_own_type_is_read_from_the_definition() {
    let tools = [
        PING.with(Team("network")).with(Price(1)).with(Price(2)),
        GREET.with(Team("manners")),
        NEVER_ENDS.into(),
    ];
    let registry = Registry::of(tools).unwrap();
    let ping = registry.get("ping").unwrap();
    assert_eq!(ping.metadata::<Team>(), Some(&Team("network")));
    assert_eq!(ping.metadata::<Price>().map(|price| price.0), Some(2), "the last one counts");
    assert!(ping.metadata::<Danger>().is_none());
    let catalog = registry.catalog();
    assert_eq!(catalog.lacking::<Team>(), ["never_ends"]);
    assert_eq!(catalog.lacking::<Price>(), ["greet", "never_ends"]);
}

/// A clock that nobody gives.
struct Clock;

/// Tells the time.
#[tool(effect = read)]
async fn tell_time(clock: &Clock) -> &'static str {
    let _ = clock;
    "noon"
}

#[tokio::test]
async fn a_later_tool_that_needs_what_nobody_gives_is_told_beforehand_and_answers_so() {
    let without = executor([PING]);
    without.registry().register(TELL_TIME).unwrap();
    let problems = without.missing(&without.catalog());
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(problem.to_string().contains("`tell_time`"), "{problem}");
    let pinned = without.pinned(&without.catalog());
    for answer in [without.call(&call("tell_time")).await, pinned.call(&call("tell_time")).await] {
        assert_eq!(kind(&answer), "missing_service");
        let words = answer.error().unwrap().message();
        assert!(words.contains("`tell_time`") && words.contains("Clock"), "{words}");
    }
    let with = builder([PING]).service(Clock).build().unwrap();
    with.registry().register(TELL_TIME).unwrap();
    assert!(with.missing(&with.catalog()).is_empty());
    assert_eq!(with.call(&call("tell_time")).await.text(), "noon");
}

/// Waits, alone of its kind.
#[tool(effect = read, limit = 1)]
async fn wait_by_itself(turnstile: &crate::support::Turnstile, log: &Log) {
    log.add("in");
    crate::support::wait_for_go(turnstile).await;
    log.add("out");
}

#[tokio::test]
async fn the_limit_of_a_tool_holds_across_generations_and_for_one_that_comes_again() {
    let (turnstile, log) = (crate::support::Turnstile::new(), Log::default());
    let executor = builder([WAIT_BY_ITSELF])
        .service_arc(turnstile.clone())
        .service(log.clone())
        .build()
        .unwrap();
    let pinned = executor.pinned(&executor.catalog());
    let first = crate::support::answer(&pinned, call("wait_by_itself"));
    let then = async {
        turnstile.entered(1).await;
        executor.registry().unregister("wait_by_itself").unwrap();
        executor.registry().register_all([WAIT_BY_ITSELF.into(), PING.renamed("more")]).unwrap();
        let second = crate::support::answer(&executor, call("wait_by_itself"));
        let let_go = async {
            tokio::task::yield_now().await;
            assert_eq!(log.count("in"), 1, "the second waits for the first");
            turnstile.let_go(2);
        };
        tokio::join!(second, let_go)
    };
    let (first, (second, ())) = tokio::join!(first, then);
    assert!(!first.is_error() && !second.is_error());
    assert_eq!(log.lines(), ["in", "out", "in", "out"]);
}

/// S0.46: the one place that knows the tools is the registry; its listing for models, its look-up
/// and its calls follow from the registration alone.
#[tokio::test]
async fn what_joins_is_listed_found_and_called_without_another_edit() {
    let executor = executor([]);
    for tool in [PING, GREET] as [Handle; 2] {
        executor.registry().register(tool).unwrap();
    }
    let listing = executor.registry().listing(toolwright::dialect::Dialect::Anthropic).unwrap();
    for name in ["ping", "greet"] {
        assert!(listing.tools().get().contains(&format!(r#""name":"{name}""#)));
        assert!(executor.registry().get(name).is_some());
        assert!(!executor.call(&Call::new(name, "{}")).await.is_error());
    }
}
