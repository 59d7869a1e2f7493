//! Generates the code of a tool: its handle, which is a constant, and its link-time registration unless the tool is
//! `unlinked`. Generated code contains only data and calls. All behaviour is in the runtime.
//!
//! This file is long, so that the code of one call can be read from beginning to end.

mod companion;
mod input;
mod output;
mod place;
mod self_type;
mod spec;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

use crate::args::{Approval, Danger};
use crate::errors::Errors;
use crate::model::{Argument, Capability, Tool};
use crate::paths::Paths;
use companion::Callee;

/// Generates the code that follows the function. If the macro has found mistakes, the code only makes rustc check the
/// types, so that one run of rustc reports all mistakes.
pub fn tool(tool: &Tool, paths: &Paths, errors: Errors) -> TokenStream {
    let root = paths.root();
    let private = paths.private();
    let (visibility, mut handle, conditions) = (&tool.visibility, tool.handle(), &tool.conditions);
    // The macro has already reported that the name is taken. Rustc does not report an item named `_` again.
    if tool.handle_is_taken {
        handle = Ident::new("_", handle.span());
    }
    let documentation = format!("Registers the tool `{}` explicitly.", tool.name());
    let body = if errors.is_empty() { body(tool) } else { unusable(tool) };
    let body = self_type::with_alias(tool.self_type.as_ref(), body);
    // If two tools have the same handle, rustc reports that at the constant. So the constant has the span of the name.
    let visibility = place::inside(&handle, quote!(#visibility));
    let mut head = quote!(const #handle: #root::Handle);
    if tool.args.krate.is_none() {
        head = place::inside(&handle, head);
    }
    let end = place::inside(&handle, quote!(;));
    let constant = quote! {
        #[doc = #documentation]
        #(#conditions)*
        #visibility #head = {
            use #private as __tw;
            #body
        }
        #end
    };
    let constant = match &tool.self_type {
        // A method's handle is an associated constant.
        Some(ty) if !tool.handle_is_taken => quote!(impl #ty { #constant }),
        _ => constant,
    };
    let errors = errors.into_compile_errors();
    let errors = errors.map(|error| quote!(#(#conditions)* #error));
    quote!(#constant #(#errors)*)
}

fn body(tool: &Tool) -> TokenStream {
    let evidence = evidence(tool);
    let slots = input::slots(tool);
    let tools_own = Callee::Function(callee(tool));
    let run = match tool.args.external {
        Some(_) => start_elsewhere(tool),
        None => {
            start(tool, "__tw_start", &tools_own, "Answer", &quote!(__tw_output()), &facts(tool))
        }
    };
    let asks = match &tool.args.approval {
        Some(Approval::Awaited(companion)) => Some(companion),
        _ => None,
    };
    let args = &tool.args;
    let extra = [
        ("__tw_asks", asks, "Asking", quote!(__tw::IntoAsking::into_asking)),
        (
            "__tw_validate",
            args.validate.as_ref(),
            "Validated",
            quote!(__tw::IntoValidated::into_validated),
        ),
        ("__tw_preview", args.preview.as_ref(), "Preview", quote!(__tw::IntoPreview::into_preview)),
        (
            "__tw_reconcile",
            args.reconcile.as_ref(),
            "Reconciling",
            quote!(__tw::IntoReconciled::into_reconciled),
        ),
    ];
    let extra = extra.into_iter().filter_map(|(name, companion, answer, encode)| {
        let companion = companion?;
        let callee = Callee::of(companion);
        let encode = place::over(callee.place(), encode);
        let codec = quote!(__tw::Codec(#encode));
        let distinct = companion::distinct(tool, companion);
        let start = start(tool, name, &callee, answer, &codec, &TokenStream::new());
        Some(quote!(#distinct #start))
    });
    let spec = spec::spec(tool);
    let signature = signature(tool);
    let link = tool.args.unlinked.is_none().then(|| quote!(__tw::link!(__TW_SPEC);));
    quote! {
        use __tw::RefusedType as _;
        #evidence
        const __TW_EVIDENCE: __tw::Evidence<#signature> = __tw::Evidence::NEW;
        #slots
        #run
        #(#extra)*
        const __TW_SPEC: __tw::Spec = #spec;
        #link
        __tw::Handle::new(&__TW_SPEC)
    }
}

fn unusable(tool: &Tool) -> TokenStream {
    let evidence = evidence(tool);
    quote! {
        #evidence
        __tw::Handle::UNUSABLE
    }
}

/// Generates code that makes rustc check each type once, at the place where the user wrote the type.
fn evidence(tool: &Tool) -> TokenStream {
    let inputs = tool.inputs().enumerate().map(|(index, param)| input::constant(index, param));
    let capabilities = capabilities(tool).enumerate().map(|(index, (capability, exclusive))| {
        let (name, ty) = (capability_constant(index), &capability.ty);
        if exclusive {
            let of = place::associated_item(ty, quote!(__tw::Exclusive > ::EXCLUSIVE));
            quote!(const #name: __tw::Loan<#ty> = #of;)
        } else {
            let of = place::associated_item(ty, quote!(__tw::Service > ::SHARED));
            quote!(const #name: __tw::Capability<#ty> = #of;)
        }
    });
    let returns = &tool.returns;
    let (value, error) = place::sides(returns);
    let value = place::over(value, quote!(__tw::ToolOutput::into_answer));
    let error = place::over(error, quote!(__tw::Failure::into_error));
    let one_result = place::over(returns, quote!(__tw::OneResult::said));
    let (depth, local) = (output::depth(returns), place::inside(returns, quote!(__tw_depth)));
    let shapes: Vec<_> = tool.inputs().filter_map(input::shape).collect();
    let shapes = (!shapes.is_empty()).then(|| {
        quote! {
            const _: () = {
                #[allow(unused_imports, reason = "found where a type is not refused")]
                use __tw::AnyShape as _;
                fn __tw_shapes() { #(#shapes)* }
            };
        }
    });
    quote! {
        #(#inputs)*
        #shapes
        #(#capabilities)*
        type __TwOutput = #returns;
        fn __tw_output() -> impl __tw::Encode<__TwOutput, __tw::Answer> {
            use __tw::{NoContainer as _, Plain as _};
            let #local = #depth;
            #one_result(#local);
            __tw::Probe::<__TwOutput>::NEW.kind().codec(#local, #value, #error)
        }
    }
}

/// Returns the types on which the call's future depends, as nested pairs.
fn signature(tool: &Tool) -> TokenStream {
    tool.arguments.iter().rev().fold(quote!(()), |rest, argument| match argument {
        Argument::Input(param) if is_plain(&param.ty) => rest,
        Argument::Input(param) => {
            let ty = &param.ty;
            quote!((__tw::ModelParameter<#ty>, #rest))
        }
        Argument::Shared(Capability { ty, .. }) => quote!((__tw::ServiceParameter<#ty>, #rest)),
        Argument::Exclusive(Capability { ty, .. }) => quote!((__tw::ResourceParameter<#ty>, #rest)),
    })
}

/// Returns whether rustc need not check a type in generated code. The function knows only the type's name. A type of
/// the user with such a name is still checked elsewhere, and in the worst case reported twice.
fn is_plain(ty: &Type) -> bool {
    const PLAIN: &[&str] = &[
        "String", "bool", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
        "f32", "f64", "char",
    ];
    match ty {
        Type::Path(path) => {
            path.path.get_ident().is_some_and(|name| PLAIN.iter().any(|it| name == it))
        }
        _ => false,
    }
}

/// Generates a function that reads the input and returns the boxed call of `callee`, which has not been polled.
fn start(
    tool: &Tool,
    name: &str,
    callee: &Callee<'_>,
    answer: &str,
    codec: &TokenStream,
    facts: &TokenStream,
) -> TokenStream {
    let [name, answer] = [name, answer].map(|name| Ident::new(name, Span::call_site()));
    let read = input::read(tool);
    let run = run(tool, callee, codec);
    quote! {
        #[allow(deprecated, reason = "a deprecated tool may still be called")]
        fn #name<'__tw>(__tw_call: __tw::Start<'__tw, '_>) -> __tw::Started<'__tw, __tw::#answer> {
            #read
            #facts
            let __tw_scope = __tw_call.scope;
            __tw::Ok(#run)
        }
    }
}

/// Generates the same function as [`start`] for an external tool. The function reads and checks the input, and calls
/// nothing.
fn start_elsewhere(tool: &Tool) -> TokenStream {
    let (read, facts) = (input::read(tool), facts(tool));
    let locals = tool.inputs().enumerate().map(|(index, _)| input::local(index));
    quote! {
        #[allow(deprecated, reason = "a deprecated tool may still be called")]
        fn __tw_start<'__tw>(
            __tw_call: __tw::Start<'__tw, '_>
        ) -> __tw::Started<'__tw, __tw::Answer> {
            #read
            #facts
            let _ = (__TW_EVIDENCE, __tw_output, #(#locals),*);
            __tw::Ok(__tw::carried_out_elsewhere())
        }
    }
}

/// Generates code that computes the facts about a call for the policy, from the expressions in the attribute.
fn facts(tool: &Tool) -> TokenStream {
    let danger = match &tool.args.danger {
        Some(Danger::Expression(expression)) => {
            let call = place::over(expression, quote!(__tw::IntoDanger::into_danger));
            quote!(__tw_call.facts.danger = #call(#expression);)
        }
        _ => TokenStream::new(),
    };
    let approval = match &tool.args.approval {
        Some(Approval::Expression(expression)) if spec::text(expression).is_none() => {
            let call = place::over(expression, quote!(__tw::ApprovalReason::reason));
            quote!(__tw_call.facts.approval = #call(#expression);)
        }
        _ => TokenStream::new(),
    };
    let borrows_services = capabilities(tool).any(|(_, exclusive)| !exclusive);
    let touches =
        [(&tool.args.reads, "reads"), (&tool.args.writes, "writes")].map(|(touches, access)| {
            let push = format_ident!("{access}{}", if borrows_services { "_in" } else { "" });
            let entries = touches.iter().flat_map(|touches| &touches.entries).map(|touch| {
                let kind = match touch.kind.get_ident() {
                    Some(word) if word == "file" => quote!(__tw::File),
                    _ => touch.kind.to_token_stream(),
                };
                let scope = borrows_services.then(|| scope(tool, &kind));
                let kind = place::associated_item(&kind, quote!(__tw::KindOfResource > ::KIND));
                match &touch.resource {
                    Some(resource) => {
                        let each = place::within(resource, quote!(__tw::ResourceName::each));
                        let name = place::within(resource, quote!(__tw_name));
                        quote! {
                            let #name = &(#resource);
                            #each(#name, &mut __tw_footprint.#push(#kind #scope));
                        }
                    }
                    None => quote!(__tw_footprint.#push(#kind #scope)(__tw::None);),
                }
            });
            let declared = touches.as_ref().map(|_| {
                let nothing_else = format_ident!("{access}_only");
                quote!(__tw_footprint.#nothing_else();)
            });
            quote!(#declared #(#entries)*)
        });
    let footprint = (tool.args.reads.is_some() || tool.args.writes.is_some()).then(|| {
        let probe = borrows_services.then(|| {
            quote! {
                #[allow(unused_imports, reason = "found where a service holds no resources of a kind")]
                use __tw::HoldsNone as _;
            }
        });
        quote! {
            if let __tw::Some(__tw_footprint) = __tw_call.facts.footprint() {
                #probe
                #(#touches)*
            }
        }
    });
    if !tool.has_expressions() {
        return footprint.into_token_stream();
    }
    // The user's names are bound only in this block, because a parameter may have the same name as its tool.
    let (names, locals): (Vec<_>, Vec<_>) =
        tool.inputs().enumerate().map(|(index, it)| (&it.ident, input::local(index))).unzip();
    let services = named_services(tool);
    let fills = tool.inputs().filter_map(input::fill);
    if names.is_empty() {
        return quote!({ #services #danger #approval #footprint });
    }
    quote! {
        let (#(#locals,)*) = {
            #(let #names = #locals;)*
            #services #(#fills)* #danger #approval #footprint
            (#(#names,)*)
        };
    }
}

/// Generates another argument: the scope that the tool's services have for resources of this kind.
fn scope(tool: &Tool, kind: &TokenStream) -> TokenStream {
    let scopes = capabilities(tool).enumerate().filter(|(_, (_, exclusive))| !exclusive);
    let scopes = scopes.map(|(index, _)| {
        let constant = capability_constant(index);
        quote!(#constant.holder::<#kind>().scope(__tw_call.scope.shared(&#constant, #index)))
    });
    quote!(, __tw::one_scope([#(#scopes),*]))
}

/// Binds the services to the names of their parameters, for the expressions in the attribute.
fn named_services(tool: &Tool) -> TokenStream {
    let services = capabilities(tool).enumerate().filter_map(|(index, (capability, exclusive))| {
        let (ident, constant) = (capability.ident.as_ref().filter(|_| !exclusive)?, capability_constant(index));
        Some(quote! {
            #[allow(unused_variables, reason = "an expression of the attribute may not name every service")]
            let #ident = __tw_call.scope.shared(&#constant, #index);
        })
    });
    quote!(#(#services)*)
}

/// Generates the boxed future. If the tool opens no resource and is not `blocking`, its function is called directly and
/// the future boxed. Otherwise an `async` block opens the resources, calls the tool, encodes its answer, and closes the
/// resources in reverse order.
fn run(tool: &Tool, callee: &Callee<'_>, codec: &TokenStream) -> TokenStream {
    let blocking = tool.args.blocking.is_some() && !callee.is_async();
    let mut opened: Vec<(Ident, Ident)> = Vec::new();
    let mut lines = TokenStream::new();
    for (index, (capability, exclusive)) in capabilities(tool).enumerate() {
        if !callee.takes(capability) {
            continue;
        }
        let (local, constant) = (capability_local(index), capability_constant(index));
        if exclusive {
            let close = close_all(&opened);
            lines.extend(quote! {
                let mut #local = match #constant.open(__tw_scope, #index).await {
                    __tw::Ok(__tw_opened) => __tw_opened,
                    __tw::Err(__tw_error) => {
                        let __tw_ended = __tw::CallEnd::failed(__tw_error);
                        #close
                        return __tw_ended;
                    }
                };
            });
            opened.push((local, constant));
        } else {
            let method = Ident::new(if blocking { "share" } else { "shared" }, Span::call_site());
            lines.extend(quote!(let #local = __tw_scope.#method(&#constant, #index);));
        }
    }
    let call = match callee {
        Callee::Function(function) => call(tool, function),
        Callee::Closure(closure) => companion::call(tool, closure, blocking),
    };
    if !blocking && opened.is_empty() {
        let answering = place::within(callee.place(), quote!(answering));
        return quote!({ #lines __TW_EVIDENCE.#answering(#call, #codec) });
    }
    let locals = opened.iter().map(|(local, _)| local);
    let locals = quote!(#(#locals),*);
    let value = if blocking {
        // Resources are moved to the blocking thread, and moved back to be closed.
        quote! {
            let (__tw_value, #locals) = __TW_EVIDENCE.blocking(move || {
                let __tw_value = #call;
                (__tw_value, #locals)
            }).await;
        }
    } else {
        quote!(let __tw_value = #call.await;)
    };
    let close = close_all(&opened);
    let boxed = place::within(callee.place(), quote!(boxed));
    quote! {
        __TW_EVIDENCE.#boxed(async move {
            #lines
            #value
            let __tw_ended = __tw::Encode::encode(&#codec, __tw_value);
            #close
            __tw_ended
        })
    }
}

/// Generates code that closes the resources, the last opened one first.
fn close_all(opened: &[(Ident, Ident)]) -> TokenStream {
    let closed = opened.iter().rev().map(
        |(local, constant)| quote!(let __tw_ended = #constant.close(#local, __tw_ended).await;),
    );
    quote!(#(#closed)*)
}

fn call(tool: &Tool, callee: &TokenStream) -> TokenStream {
    let blocking = tool.args.blocking.is_some();
    let (mut inputs, mut borrowed) = (0, 0);
    let arguments = tool.arguments.iter().map(|argument| match argument {
        Argument::Input(_) => {
            let local = input::local(inputs);
            inputs += 1;
            place::inside(callee, quote!(#local))
        }
        Argument::Shared(_) | Argument::Exclusive(_) => {
            let local = capability_local(borrowed);
            borrowed += 1;
            let given = match argument {
                Argument::Exclusive(_) => quote!(&mut #local),
                _ if blocking => quote!(&*#local),
                _ => quote!(#local),
            };
            place::inside(callee, given)
        }
    });
    let arguments = place::list(callee, quote!(#(#arguments),*));
    quote!(#callee #arguments)
}

fn callee(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    match &tool.self_type {
        Some(ty) => place::over(function, quote!(<#ty>::#function)),
        None => quote!(#function),
    }
}

/// Returns the capabilities in the order of the signature, each with whether it is a resource that is opened for the
/// call.
fn capabilities(tool: &Tool) -> impl Iterator<Item = (&Capability, bool)> {
    tool.arguments.iter().filter_map(|argument| match argument {
        Argument::Shared(capability) => Some((capability, false)),
        Argument::Exclusive(capability) => Some((capability, true)),
        Argument::Input(_) => None,
    })
}

fn capability_constant(index: usize) -> Ident {
    format_ident!("__TW_C{index}")
}

fn capability_local(index: usize) -> Ident {
    format_ident!("__tw_c{index}")
}
