//! What the attribute can say, a run-time tool can say: the two lists of options are compared as they are written.

use std::collections::BTreeSet;

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use toolwright::Registry;
use toolwright::{Call, DynamicTool, Executor, Repair};

const ATTRIBUTE: &str = include_str!("../../macros/src/args.rs");
const MADE: &str = include_str!("../../runtime/executor/src/dynamic/options.rs");

/// By what a run-time tool says what an option of the attribute says. Nothing: why it has no such method.
fn methods(option: &str) -> Result<&'static [&'static str], &'static str> {
    Ok(match option {
        "title" => &["title"],
        "group" => &["group"],
        "tags" => &["tag"],
        "terminal" => &["terminal"],
        "danger" => &["danger", "danger_by"],
        "effect" => &["effect"],
        "reads" | "writes" => &["footprint_by"],
        "approval" => &["approval", "approval_awaited_by", "approval_by"],
        "preview" => &["preview_by"],
        "validate" => &["validate_by"],
        "reconcile" => &["reconcile_by"],
        "retry" => &["retry"],
        "timeout" => &["timeout"],
        "total_timeout" => &["total_timeout"],
        "limit" => &["limit"],
        "repair" => &["repair"],
        "hidden" | "deferred" => &["exposure"],
        "name" => return Err("`new` and `typed` take it"),
        "handle" | "crate" => return Err("it names what the macro generates"),
        "blocking" => return Err("the handler is a future"),
        "external" => return Err("`external` makes such a tool"),
        "background" => &["background"],
        "unlinked" => return Err("a run-time tool is never registered by the linker"),
        _ => return Err(""),
    })
}

/// What the attribute leaves to the function and its type.
const OF_THE_FUNCTION: [&str; 5] = ["implementation", "output_schema", "returns", "sinks", "with"];

/// What an application does with any tool, also one that it did not write.
const OF_ANY_TOOL: [&str; 2] = ["adapted", "prefixed"];

/// Each row of the list of options begins with the option as it is written.
fn options_of_the_attribute() -> Vec<String> {
    let file = syn::parse_file(ATTRIBUTE).unwrap();
    let mut lists = file.items.iter().filter_map(|item| match item {
        syn::Item::Macro(list) if list.mac.path.is_ident("options") => Some(&list.mac.tokens),
        _ => None,
    });
    let list = lists.next().expect("`options!` is called");
    let row = |input: syn::parse::ParseStream<'_>| {
        let written: syn::LitStr = input.parse()?;
        input.parse::<syn::Ident>()?;
        input.parse::<syn::Token![:]>()?;
        input.parse::<syn::Type>()?;
        input.parse::<syn::Token![=]>()?;
        input.parse::<syn::Expr>()?;
        Ok(written.value())
    };
    let rows = |input: syn::parse::ParseStream<'_>| {
        Punctuated::<String, syn::Token![,]>::parse_terminated_with(input, row)
    };
    rows.parse2(list.clone()).unwrap().into_iter().collect()
}

fn options_of_a_run_time_tool() -> BTreeSet<String> {
    let file = syn::parse_file(MADE).unwrap();
    let items = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Impl(block) => Some(block.items),
        _ => None,
    });
    let names = items.flatten().filter_map(|item| match item {
        syn::ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    });
    names.collect()
}

#[test]
fn every_option_of_the_attribute_is_a_method_of_a_run_time_tool_or_makes_no_sense_there() {
    let (options, made) = (options_of_the_attribute(), options_of_a_run_time_tool());
    assert!(options.len() >= 22, "{options:?}");
    let mut named: BTreeSet<String> =
        OF_THE_FUNCTION.into_iter().chain(OF_ANY_TOOL).map(str::to_owned).collect();
    for option in &options {
        match methods(option) {
            Ok(methods) => named.extend(methods.iter().map(|it| (*it).to_owned())),
            Err(why) => assert!(!why.is_empty(), "`DynamicTool` has nothing for `{option}`"),
        }
    }
    assert_eq!(
        made, named,
        "methods of `DynamicTool`, and what the options of the attribute ask for"
    );
}

#[tokio::test]
async fn a_run_time_tool_says_how_far_its_input_is_repaired() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"times": {"type": "integer"}},
        "required": ["times"],
    });
    for (level, repaired) in
        [(None, true), (Some(Repair::Off), false), (Some(Repair::Lenient), true)]
    {
        let count =
            DynamicTool::new("made_count", "Counts.", schema.clone(), |input, _| async move {
                Ok(input["times"].clone())
            });
        let count = level.into_iter().fold(count, DynamicTool::repair);
        let registry = Registry::of([count]).unwrap();
        assert_eq!(registry.get("made_count").unwrap().repair, level);
        let executor = Executor::builder(registry).unrestricted().build().unwrap();
        let answer = executor.call(&Call::new("made_count", r#"{"times":"3"}"#)).await;
        assert_eq!(answer.text() == "3", repaired, "{level:?}: {}", answer.text());
    }
}
