//! What the macros write, reviewed as code.

mod unusable;

use insta::assert_snapshot;
use proc_macro2::TokenStream;
use quote::quote;

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

fn tool(args: TokenStream, item: TokenStream) -> String {
    pretty(crate::expand_tool(args, item))
}

#[test]
fn a_plain_tool() {
    let item = quote! {
        /// Says hello.
        pub async fn hello(
            /// Whom.
            name: String,
        ) -> String {
            format!("hello {name}")
        }
    };
    assert_snapshot!(tool(quote!(), item));
}

#[test]
fn a_tool_that_is_carried_out_elsewhere() {
    let item = quote! {
        /// Lets the visitor pick a colour.
        pub async fn pick(
            /// What for.
            prompt: String,
        ) -> Colour;
    };
    assert_snapshot!(tool(quote!(external, timeout = "5m"), item));
}

#[test]
fn a_tool_without_parameters() {
    let item = quote! {
        /// Says when.
        async fn now() -> u64 { 0 }
    };
    assert_snapshot!(tool(quote!(effect = read), item));
}

#[test]
fn a_tool_with_services_limits_and_expressions() {
    let args = quote! {
        group = "file", title = "Read a file", tags("fs", "text"), danger = classify(&path), effect = read,
        reads(file = path, Index), approval = reason(workspace, &path), retry(attempts = 3, delay = "500ms"),
        timeout = "5s", total_timeout = "1m", limit = 4, repair = off, deferred
    };
    let item = quote! {
        /// Reads a file.
        async fn read_file(
            workspace: &Workspace,
            context: &ToolContext,
            /// Which.
            #[arg(length = 1..=200, pattern = "^[a-z]", alias = "file", example = "a.txt", positional)]
            path: String,
            /// From where.
            #[arg(default = 1, minimum = 1, maximum = LAST, short = 'o')]
            offset: usize,
            /// With what.
            #[arg(secret)]
            key: Option<String>,
        ) -> Result<Slice, ToolError> { body }
    };
    assert_snapshot!(tool(args, item));
}

#[test]
fn a_parameter_that_is_filled_at_the_call() {
    let item = quote! {
        /// Lists a folder.
        async fn list(
            places: &Places,
            /// Which.
            #[arg(fill = places.here())]
            folder: Option<String>,
        ) {}
    };
    assert_snapshot!(tool(quote!(effect = read, reads(file = folder)), item));
}

#[test]
fn an_unlinked_tool_differs_by_its_registration_alone() {
    let item = quote! {
        /// Says when.
        async fn now() -> u64 { 0 }
    };
    let linked = tool(quote!(effect = read), item.clone());
    let link = "    __tw::link!(__TW_SPEC);\n";
    assert_eq!(linked.matches(link).count(), 1, "{linked}");
    assert_eq!(tool(quote!(unlinked, effect = read), item), linked.replace(link, ""));
}

#[test]
fn methods_of_an_unlinked_block() {
    let item = quote! {
        impl Clock {
            /// Says when.
            #[tool(effect = read)]
            pub async fn now(&self) -> u64 { 0 }
        }
    };
    assert_snapshot!(pretty(crate::expand_tools(quote!(group = "clock", unlinked), item)));
}

#[test]
fn a_blocking_tool_with_two_resources() {
    let item = quote! {
        /// Copies rows.
        fn copy(source: &mut Source, pool: &Pool, target: &mut Target) -> Result<u64, Failed> { body }
    };
    assert_snapshot!(tool(quote!(blocking, preview = preview_copy, reconcile = find_copy), item));
}

#[test]
fn a_preview_and_a_reconciliation_as_closures() {
    let args = quote! {
        preview = |to, from| format!("{from} pays {to}"),
        reconcile = async |ledger, from: String| -> Result<Reconciled, ToolError> { ledger.find(&from).await? }
    };
    let item = quote! {
        /// Pays.
        async fn pay(
            ledger: &Ledger,
            transaction: &mut Transaction,
            /// Who pays.
            from: String,
            /// Who is paid.
            to: String,
        ) { body }
    };
    let written = tool(args, item);
    let (_, rest) = written.split_once("fn __tw_preview").unwrap();
    assert_snapshot!(rest.split_once("const __TW_SPEC").unwrap().0);
}

#[test]
fn a_rule_for_the_input_as_a_closure() {
    let args = quote! {
        validate = |stock, article| match stock.has(&article) {
            true => Ok(()),
            false => Err(ToolError::invalid("there is none")),
        }
    };
    let item = quote! {
        /// Orders.
        async fn order(
            stock: &Stock,
            /// What.
            article: String,
        ) { body }
    };
    let written = tool(args, item);
    let (_, rest) = written.split_once("fn __tw_validate").unwrap();
    assert_snapshot!(rest.split_once("const __TW_SPEC").unwrap().0);
}

#[test]
fn a_path_that_begins_with_self_in_a_closure_names_a_module() {
    let args = quote!(validate = |path| self::check(&path));
    let item = quote! {
        /// Reads.
        async fn read(
            /// What.
            path: String,
        ) { body }
    };
    let written = tool(args, item);
    assert!(written.contains("(move || self::check(&path))()"), "{written}");
    assert!(!written.contains("__tw_self"), "{written}");
}

#[test]
fn a_tool_whose_input_is_one_type() {
    let item = quote! {
        /// Searches.
        async fn search(#[input] args: SearchArgs) -> Output { body }
    };
    assert_snapshot!(tool(quote!(crate = ::other, handle = FIND), item));
}

#[test]
fn methods_of_a_service() {
    let item = quote! {
        impl Tickets {
            const MOST: usize = 3;

            /// Reads a ticket.
            #[cfg(feature = "read")]
            #[tool(effect = read)]
            pub async fn read(&self, /** Which. */ id: u64) -> Result<Ticket, ToolError> { body }

            fn helper(&self) {}
        }
    };
    assert_snapshot!(pretty(crate::expand_tools(quote!(group = "ticket"), item)));
}

#[test]
fn a_tool_with_mistakes_leaves_the_function_and_asks_about_its_types() {
    let item = quote! {
        async fn broken(
            /// Which.
            #[arg(minimun = 1)]
            id: u64,
        ) -> Answer { body }
    };
    assert_snapshot!(tool(quote!(effect = reed), item));
}

#[test]
fn data_is_known_only_by_attributes_that_change_schema_and_reading_alike() {
    let is_known = |item: TokenStream| {
        pretty(crate::data::expand(TokenStream::new(), item)).contains("KnownType")
    };
    let known = [
        quote!(
            struct A {
                a: u8,
            }
        ),
        quote!(
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            struct A {
                #[serde(default)]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[serde(default = "five", skip_serializing_if = "is_five")]
                a: u8,
            }
        ),
        quote!(
            #[derive(Clone)]
            enum A {
                #[serde(rename = "b")]
                B,
                C(u8),
                #[doc = "It."]
                D {
                    e: u8,
                },
            }
        ),
    ];
    for item in known {
        assert!(is_known(item.clone()), "{item}");
    }
    let unknown = [
        quote!(
            struct A {
                #[serde(alias = "b")]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[serde(flatten)]
                a: B,
            }
        ),
        quote!(
            struct A {
                #[serde(deserialize_with = "read")]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[serde(rename(deserialize = "b"))]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[schemars(with = "String")]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[schemars(rename = "b")]
                a: u8,
            }
        ),
        quote!(
            struct A {
                #[cfg(unix)]
                a: u8,
            }
        ),
        quote!(
            #[cfg_attr(all(), serde(untagged))]
            enum A {
                B(u8),
            }
        ),
        quote!(
            #[serde_as]
            struct A {
                a: u8,
            }
        ),
        quote!(
            #[serde(try_from = "u8")]
            struct A {
                a: u8,
            }
        ),
        quote!(
            #[serde(from = "u8")]
            struct A {
                a: u8,
            }
        ),
        quote!(
            #[serde(untagged)]
            enum A {
                B(u8),
            }
        ),
        quote!(
            #[serde(tag = "t")]
            enum A {
                B { a: u8 },
            }
        ),
        quote!(
            enum A {
                B,
                #[serde(other)]
                C,
            }
        ),
        quote!(
            struct A(Option<u8>);
        ),
        quote!(
            struct A<T> {
                a: T,
            }
        ),
    ];
    for item in unknown {
        assert!(!is_known(item.clone()), "{item}");
    }
}

#[test]
fn data_gets_its_derives_from_the_runtime() {
    let item = quote! {
        #[serde(rename_all = "snake_case")]
        pub enum Mode { Fast, Slow }
    };
    assert_snapshot!(pretty(crate::data::expand(quote!(crate = other::inner), item)));
}
