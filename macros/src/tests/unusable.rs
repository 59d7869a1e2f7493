//! A handle that nothing can be done with never compiles: where the macro writes one, it reports a mistake of its own.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Item};

/// What may stand in a signature that cannot be a tool's, and what only looks like it.
const TYPES: &[&str] = &[
    "_",
    "Vec<_>",
    "Option<(u8, _)>",
    "Cow<'_, str>",
    "Tx<'_>",
    "Tx<'a>",
    "Tx<'static>",
    "(dyn S + '_)",
    "(dyn S + 'a)",
    "dyn S",
    "dyn Fn(&str) -> bool",
    "impl S",
    "Self",
    "Option<Self>",
    "str",
    "[u8]",
    "&str",
    "&Db",
    "&&Db",
    "&'a Db",
    "Option<&Db>",
    "Vec<&'static str>",
    "OsString",
    "Box<OsStr>",
    "(&str, u8)",
    "String",
    "Db",
    "u8",
    "fn(&str)",
    "Option<Result<u8, u8>>",
    "some!()",
    "!",
];

fn holds(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(found) => found == word,
        TokenTree::Group(group) => holds(group.stream(), word),
        _ => false,
    })
}

/// Whether the expansion leaves an unusable handle, which it must not without a mistake.
fn leaves_one(what: &str, expansion: TokenStream) -> bool {
    let unusable = holds(expansion.clone(), "UNUSABLE");
    assert!(!unusable || holds(expansion, "compile_error"), "nothing is reported of {what}");
    unusable
}

fn tool(args: &str, item: &str) -> bool {
    let [args, tokens] = [args, item].map(|text| TokenStream::from_str(text).unwrap());
    leaves_one(item, crate::expand_tool(args, tokens))
}

fn method(item: &str) -> bool {
    leaves_one(item, crate::expand_tools(quote!(), TokenStream::from_str(item).unwrap()))
}

#[test]
fn a_type_that_leaves_an_unusable_handle_is_reported() {
    let mut unusable = 0;
    for ty in TYPES {
        for parameter in
            [ty.to_string(), format!("&{ty}"), format!("&mut {ty}"), format!("&'a {ty}")]
        {
            let parameter = format!("/** One. */ one: {parameter}");
            unusable +=
                usize::from(tool("", &format!("/** Does. */ async fn one_tool({parameter}) {{}}")));
            unusable += usize::from(method(&format!(
                "impl Db<'_> {{ /** Does. */ #[tool] async fn one_tool(&self, {parameter}) {{}} }}"
            )));
        }
        for returned in [ty.to_string(), format!("Result<{ty}, ToolError>"), format!("Vec<{ty}>")] {
            unusable += usize::from(tool(
                "",
                &format!("/** Does. */ async fn one_tool() -> {returned} {{}}"),
            ));
        }
        unusable += usize::from(method(&format!(
            "impl {ty} {{ /** Does. */ #[tool] async fn one_tool(&self) {{}} }}"
        )));
    }
    assert!(unusable > 100, "only {unusable} were tried");
}

#[test]
fn an_option_or_a_form_that_leaves_an_unusable_handle_is_reported() {
    let sound = "/** Does. */ async fn one_tool() {}";
    let options = [
        "effect = reed",
        "danger = Safe",
        "name = \"\"",
        "limit = 0",
        "hidden, deferred",
        "blocking",
        "handle = one_tool",
        "unknown",
        "effect = read, writes(file = x)",
        "timeout = \"0s\"",
    ];
    for option in options {
        assert!(tool(option, sound), "{option} was accepted");
    }
    let forms = [
        "async fn one_tool() {}",
        "/** Does. */ fn one_tool() {}",
        "/** Does. */ async unsafe fn one_tool() {}",
        "/** Does. */ async fn one_tool<T>() {}",
        "/** Does. */ async fn one_tool(&self) {}",
        "/** Does. */ async fn one_tool(one: u8) {}",
        "/** Does. */ async fn one_tool(a: &mut Tx, b: &mut Tx) {}",
        "/** Does. */ async fn one_tool(/** One. */ (one, _): (u8, u8)) {}",
        "/** Does. */ async fn one_tool(/** One. */ #[arg(secret, default = 1)] one: u8) {}",
        "/** Does. */ #[input] async fn one_tool() {}",
        "/** Does. */ #[tool] async fn one_tool() {}",
    ];
    for form in forms {
        assert!(tool("", form), "{form} was accepted");
    }
    assert!(!tool("", sound));
}

#[test]
fn a_case_that_leaves_an_unusable_handle_is_reported() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/cases");
    let mut unusable = 0;
    for folder in std::fs::read_dir(cases).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "rs")
                && let Ok(file) = syn::parse_file(&std::fs::read_to_string(&path).unwrap())
            {
                unusable += file.items.into_iter().filter(|item| case(&path, item)).count();
            }
        }
    }
    assert!(unusable > 60, "only {unusable} were tried");
}

/// Expands an item of a case as rustc would.
fn case(path: &Path, item: &Item) -> bool {
    let what = path.display().to_string();
    let (mut item, attributes) = (item.clone(), |name: &str, all: &mut Vec<Attribute>| {
        let index = all
            .iter()
            .position(|it| it.path().segments.last().is_some_and(|it| it.ident == name))?;
        let list = all.remove(index).meta;
        Some(list.require_list().map(|it| it.tokens.clone()).unwrap_or_default())
    });
    match &mut item {
        Item::Fn(function) => attributes("tool", &mut function.attrs).is_some_and(|args| {
            leaves_one(&what, crate::expand_tool(args, item.to_token_stream()))
        }),
        Item::Impl(block) => attributes("tools", &mut block.attrs).is_some_and(|args| {
            leaves_one(&what, crate::expand_tools(args, item.to_token_stream()))
        }),
        _ => false,
    }
}
