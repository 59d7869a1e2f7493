//! Generates the static description of a tool, from which the runtime makes the tool's definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, LitStr};

use super::companion::Callee;
use super::{capabilities, capability_constant, input, place};
use crate::args::{Approval, Danger, Preset, Retry, Timeout};
use crate::model::{Param, Tool};

/// Generates `Spec { … }` with the fields that differ from those of `Spec::EMPTY`.
pub fn spec(tool: &Tool) -> TokenStream {
    let args = &tool.args;
    let (name, docs) = (tool.name(), &tool.docs);
    let params = tool.inputs().enumerate().map(|(index, param)| parameter(index, param));
    let capabilities = capabilities(tool).enumerate().map(|(index, _)| {
        let constant = capability_constant(index);
        quote!(#constant.spec())
    });
    let danger = args.danger.as_ref().map(|danger| match danger {
        Danger::Level(level) => {
            let level = variant("Danger", level);
            quote!(danger: __tw::DangerSpec::Level(#level),)
        }
        Danger::Expression(_) => quote!(danger: __tw::DangerSpec::Computed,),
    });
    let approval = args.approval.as_ref().map(|approval| match approval {
        Approval::Expression(reason) => match text(reason) {
            Some(reason) => quote!(approval: __tw::ApprovalSpec::Always(#reason),),
            None => quote!(approval: __tw::ApprovalSpec::Computed,),
        },
        Approval::Awaited(_) => {
            quote!(approval: __tw::ApprovalSpec::Computed, asks: __tw::Some(__tw_asks),)
        }
    });
    let exposure = match (args.hidden, args.deferred) {
        (Some(_), _) => Some(quote!(exposure: __tw::Exposure::Hidden,)),
        (None, Some(_)) => Some(quote!(exposure: __tw::Exposure::Deferred,)),
        (None, None) => None,
    };
    let fields = [
        args.title.as_ref().map(|title| quote!(title: __tw::Some(#title),)),
        args.group.as_ref().map(|group| quote!(group: __tw::Some(#group),)),
        (!args.tags.is_empty()).then(|| {
            let tags = &args.tags;
            quote!(tags: &[#(#tags),*],)
        }),
        args.terminal.map(|_| quote!(terminal: true,)),
        args.external.map(|_| quote!(external: true,)),
        args.background.map(|_| quote!(background: true,)),
        danger,
        args.effect.as_ref().map(|effect| {
            let effect = variant("Effect", effect);
            quote!(effect: #effect,)
        }),
        approval,
        args.validate.as_ref().map(|_| quote!(validate: __tw::Some(__tw_validate),)),
        validates_at_once(tool).then(|| quote!(validates_at_once: true,)),
        args.preview.as_ref().map(|_| quote!(preview: __tw::Some(__tw_preview),)),
        args.reconcile.as_ref().map(|_| quote!(reconcile: __tw::Some(__tw_reconcile),)),
        args.retry.as_ref().map(retry),
        args.timeout.as_ref().map(|it| timeout("timeout", it)),
        args.total_timeout.as_ref().map(|it| timeout("total_timeout", it)),
        args.limit.map(|limit| quote!(limit: __tw::Some(#limit),)),
        declares_footprint(tool).then(|| quote!(declares_footprint: true,)),
        args.repair.as_ref().map(|repair| {
            let repair = variant("Repair", repair);
            quote!(repair: __tw::Some(#repair),)
        }),
        exposure,
        tool.whole().map(|_| quote!(whole: true,)),
    ];
    let rest = rest("Spec", fields.iter().all(Option::is_some));
    let fields = fields.iter().flatten();
    let line = tool.function.span().start().line as u32;
    let location = quote!(__tw::Location::new(
        __tw::env!("CARGO_PKG_NAME"),
        __tw::env!("CARGO_PKG_VERSION"),
        __tw::file!(),
        #line
    ));
    quote! {
        __tw::Spec {
            name: #name,
            description: #docs,
            location: #location,
            parameters: &[#(#params),*],
            capabilities: &[#(#capabilities),*],
            output: || {
                use __tw::{NoSchema as _, Plain as _};
                __tw::Probe::<__TwOutput>::NEW.kind().schema()
            },
            start: __tw_start,
            #(#fields)*
            #rest
        }
    }
}

/// Returns whether the tool's validation never waits and sees all final arguments. An argument that `fill` adds is not
/// known to the validation.
fn validates_at_once(tool: &Tool) -> bool {
    let callee = tool.args.validate.as_ref().map(Callee::of);
    let is_plain = |it: &Callee<'_>| matches!(it, Callee::Closure(_)) && !it.is_async();
    callee.is_some_and(|it| is_plain(&it))
        && tool.args.blocking.is_none()
        && tool.inputs().all(|it| it.args.fill.is_none())
}

/// Returns whether the tool declares the resources that it touches: by `reads` if its effect is `read`, otherwise by
/// `writes`.
fn declares_footprint(tool: &Tool) -> bool {
    let is_read = tool.args.effect.as_ref().is_some_and(|effect| effect == "read");
    let declared = if is_read { &tool.args.reads } else { &tool.args.writes };
    declared.is_some()
}

fn parameter(index: usize, param: &Param) -> TokenStream {
    let (constant, key, docs) = (input::param_constant(index), &param.key, &param.docs);
    let ty = &param.ty;
    let args = &param.args;
    let default = args.default.as_ref().map(|preset| {
        let default = input::default_constant(index);
        let json = match preset {
            Preset::Value(expression) => show(expression, quote!(&#default())),
            Preset::OfType(key) => show(key, quote!(&#default())),
        };
        quote!(.default(|| #json))
    });
    let examples = (!args.examples.is_empty()).then(|| {
        let examples = args.examples.iter().map(|example| {
            let (value, json) = (input::value(example), show(example, quote!(&__tw_example)));
            let local = place::within(example, quote!(__tw_example));
            quote!(|| { let #local: #ty = #value; #json })
        });
        quote!(.examples(&[#(#examples),*]))
    });
    let aliases = (!args.aliases.is_empty()).then(|| {
        let aliases = &args.aliases;
        quote!(.aliases(&[#(#aliases),*]))
    });
    let secret = args.secret.then(|| quote!(.secret()));
    let sink = args.sink.then(|| quote!(.sink()));
    let short = args.short.as_ref().map(|short| {
        let letter = short.letter.or_else(|| param.key.chars().next()).unwrap_or('_');
        quote!(.short(#letter))
    });
    let positional = args.positional.map(|_| quote!(.positional()));
    quote!(#constant.spec(#key, #docs) #default #examples #aliases #secret #sink #short #positional)
}

/// Generates code that returns the JSON of a default or an example.
fn show(written: impl ToTokens, value: TokenStream) -> TokenStream {
    let json = place::within(&written, quote!(__tw::JsonPreset::json));
    let value = place::within(&written, value);
    quote!(#json(#value))
}

fn retry(retry: &Retry) -> TokenStream {
    let Retry { attempts, delay, max_delay } = retry;
    let [attempts, delay, max_delay] = [
        attempts.map(|attempts| quote!(attempts: __tw::Some(#attempts),)),
        delay.map(|delay| quote!(delay: __tw::Some(#delay),)),
        max_delay.map(|delay| quote!(max_delay: __tw::Some(#delay),)),
    ];
    let all = attempts.is_some() && delay.is_some() && max_delay.is_some();
    let rest = rest("RetrySpec", all);
    quote!(retry: __tw::RetrySpec { #attempts #delay #max_delay #rest },)
}

fn timeout(field: &str, timeout: &Timeout) -> TokenStream {
    let field = Ident::new(field, Span::call_site());
    match timeout {
        Timeout::None => quote!(#field: __tw::TimeoutSpec::None,),
        Timeout::Milliseconds(milliseconds) => {
            quote!(#field: __tw::TimeoutSpec::Milliseconds(#milliseconds),)
        }
    }
}

/// Generates `..EMPTY` for the fields that are left out. Generates nothing if all fields are given, because clippy
/// refuses a needless `..EMPTY`.
fn rest(of: &str, all_given: bool) -> TokenStream {
    let of = Ident::new(of, Span::call_site());
    if all_given { TokenStream::new() } else { quote!(..__tw::#of::EMPTY) }
}

/// Generates the path of a variant, such as `Danger::Safe` for the word `safe`.
fn variant(of: &str, word: &Ident) -> TokenStream {
    let of = Ident::new(of, Span::call_site());
    let word = word.to_string();
    let (first, rest) = word.split_at(1);
    let variant = Ident::new(&format!("{}{rest}", first.to_uppercase()), Span::call_site());
    quote!(__tw::#of::#variant)
}

/// Returns the string literal, if the expression is one.
pub fn text(expression: &Expr) -> Option<&LitStr> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}
