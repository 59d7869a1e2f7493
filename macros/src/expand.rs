//! What is generated: one constant, the tool's handle, and one link-time registration. Data and
//! calls only; all behaviour is in the runtime.

mod input;
mod spec;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::args::Danger;
use crate::errors::Errors;
use crate::model::{Argument, Capability, Param, Tool};
use crate::paths::Paths;

/// The code that follows the function. Where mistakes were found, it only asks rustc about the
/// types, so that all mistakes are reported in one run.
pub fn tool(tool: &Tool, paths: &Paths, errors: Errors) -> TokenStream {
    let root = paths.root();
    let private = paths.private();
    let (visibility, handle, conditions) = (&tool.visibility, tool.handle(), &tool.conditions);
    let documentation = format!("Registers the tool `{}` explicitly.", tool.name());
    let body = if errors.is_empty() { body(tool) } else { unusable(tool) };
    let constant = quote! {
        #[doc = #documentation]
        #(#conditions)*
        #visibility const #handle: #root::Handle = {
            use #private as __tw;
            #body
        };
    };
    if !errors.is_empty() {
        let errors = errors.into_compile_errors();
        let constant = within_type(tool, &constant);
        return quote!(#constant #errors);
    }
    let owner = tool.self_type.as_ref().map(|ty| quote!(<#ty>::));
    let constant = within_type(tool, &constant);
    quote! {
        #constant
        #(#conditions)*
        const _: () = {
            use #private as __tw;
            #[__tw::linkme::distributed_slice(__tw::TOOLS)]
            #[linkme(crate = __tw::linkme)]
            static __TW_LINK: __tw::Handle = #owner #handle;
        };
    }
}

/// A method's handle is an associated constant.
fn within_type(tool: &Tool, constant: &TokenStream) -> TokenStream {
    match &tool.self_type {
        Some(ty) => quote!(impl #ty { #constant }),
        None => constant.clone(),
    }
}

fn body(tool: &Tool) -> TokenStream {
    let evidence = evidence(tool);
    let slots = input::slots(tool);
    let run =
        start(tool, "__tw_start", &callee(tool), "Answer", &quote!(__tw_output()), &facts(tool));
    let extra = [
        ("__tw_preview", &tool.args.preview, "Preview", "preview_codec"),
        ("__tw_reconcile", &tool.args.reconcile, "Reconciling", "reconciled_codec"),
    ];
    let extra = extra.iter().filter_map(|(name, path, answer, codec)| {
        let path = path.as_ref()?;
        let codec = Ident::new(codec, at(path.span()));
        let codec = quote_spanned!(at(path.span())=> __tw::#codec());
        Some(start(tool, name, &quote!(#path), answer, &codec, &TokenStream::new()))
    });
    let spec = spec::spec(tool);
    quote! {
        #evidence
        #slots
        #run
        #(#extra)*
        const __TW_SPEC: __tw::Spec = #spec;
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

/// Asks rustc once about each type, at the place where the user wrote it.
fn evidence(tool: &Tool) -> TokenStream {
    let inputs = tool.inputs().enumerate().map(|(index, param)| input::constant(index, param));
    let capabilities = capabilities(tool).enumerate().map(|(index, (capability, exclusive))| {
        let (name, ty) = (capability_constant(index), &capability.ty);
        let kind = Ident::new(if exclusive { "exclusive" } else { "shared" }, at(ty.span()));
        let of = quote_spanned!(at(ty.span())=> __tw::Capability::#kind());
        quote!(const #name: __tw::Capability<#ty> = #of;)
    });
    let returns = &tool.returns;
    let output = quote_spanned!(at(returns.span())=> __tw::Probe::<__TwOutput>::NEW.kind().codec());
    quote! {
        #(#inputs)*
        #(#capabilities)*
        type __TwOutput = #returns;
        fn __tw_output() -> __tw::Codec<__TwOutput, __tw::Answer> {
            use __tw::Plain as _;
            #output
        }
    }
}

/// One function from the input's text to the boxed, unpolled call of `callee`.
fn start(
    tool: &Tool,
    name: &str,
    callee: &TokenStream,
    answer: &str,
    codec: &TokenStream,
    facts: &TokenStream,
) -> TokenStream {
    let [name, answer] = [name, answer].map(|name| Ident::new(name, Span::call_site()));
    let read = input::read(tool);
    let (bound, callee) = if is_hidden(tool, callee) {
        (quote!(let __tw_callee = #callee;), &quote!(__tw_callee))
    } else {
        (TokenStream::new(), callee)
    };
    let run = run(tool, callee, codec);
    quote! {
        fn #name<'__tw>(__tw_call: __tw::Start<'__tw, '_>) -> __tw::Started<'__tw, __tw::#answer> {
            #bound
            #read
            #facts
            let __tw_scope = __tw_call.scope;
            __tw::Ok(#run)
        }
    }
}

/// Whether a parameter that the attribute's expressions need by name is called like the function
/// that it is passed to.
fn is_hidden(tool: &Tool, callee: &TokenStream) -> bool {
    let services = capabilities(tool).filter_map(|(capability, _)| capability.ident.as_ref());
    let callee = callee.to_string();
    tool.has_expressions()
        && tool.inputs().map(|param| &param.ident).chain(services).any(|it| *it == callee)
}

/// What policy must know of this call, from the expressions of the attribute.
fn facts(tool: &Tool) -> TokenStream {
    let danger = match &tool.args.danger {
        Some(Danger::Expression(expression)) => {
            let call = quote_spanned!(at(expression.span())=> __tw_call.facts.danger);
            quote!(#call(#expression);)
        }
        _ => TokenStream::new(),
    };
    let approval =
        tool.args.approval.as_ref().filter(|it| spec::text(it).is_none()).map(|expression| {
            let call = quote_spanned!(at(expression.span())=> __tw_call.facts.approval);
            quote!(#call(#expression);)
        });
    let touches =
        [(&tool.args.reads, "reads"), (&tool.args.writes, "writes")].map(|(touches, access)| {
            let access = Ident::new(access, Span::call_site());
            let entries = touches.iter().flat_map(|touches| &touches.entries).map(|touch| {
                let kind = match touch.kind.get_ident() {
                    Some(word) if word == "file" => quote!(__tw::File),
                    _ => {
                        let kind = &touch.kind;
                        quote!(#kind)
                    }
                };
                match &touch.resource {
                    Some(resource) => {
                        let call =
                            quote_spanned!(at(resource.span())=> __tw_footprint.#access::<#kind>);
                        quote!(#call(&(#resource));)
                    }
                    None => {
                        let whole = format_ident!("{access}_all");
                        quote!(__tw_footprint.#whole::<#kind>();)
                    }
                }
            });
            let declared = touches.as_ref().map(|_| {
                let nothing_else = format_ident!("{access}_only");
                quote!(__tw_footprint.#nothing_else();)
            });
            quote!(#declared #(#entries)*)
        });
    let footprint = (tool.args.reads.is_some() || tool.args.writes.is_some()).then(|| {
        quote! {
            if let __tw::Some(__tw_footprint) = __tw_call.facts.footprint() {
                #(#touches)*
            }
        }
    });
    let shared = tool.has_expressions().then(|| named_services(tool));
    quote!(#shared #danger #approval #footprint)
}

/// Services by the names of their parameters, for the expressions of the attribute.
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

/// The boxed future. A tool that opens nothing is called at once, which runs nothing of it yet;
/// otherwise a block opens what is exclusive, calls, encodes and closes in reverse order.
fn run(tool: &Tool, callee: &TokenStream, codec: &TokenStream) -> TokenStream {
    let blocking = tool.args.blocking.is_some();
    let mut opened: Vec<Ident> = Vec::new();
    let mut lines = TokenStream::new();
    for (index, (_, exclusive)) in capabilities(tool).enumerate() {
        let (local, constant) = (capability_local(index), capability_constant(index));
        if exclusive {
            let close = close_all(&opened);
            lines.extend(quote! {
                let mut #local = match __tw_scope.open(&#constant, #index).await {
                    __tw::Ok(__tw_opened) => __tw_opened,
                    __tw::Err(__tw_error) => {
                        let __tw_ended = __tw::Ended::failed(__tw_error);
                        #close
                        return __tw_ended;
                    }
                };
            });
            opened.push(local);
        } else {
            let method = Ident::new(if blocking { "share" } else { "shared" }, Span::call_site());
            lines.extend(quote!(let #local = __tw_scope.#method(&#constant, #index);));
        }
    }
    let call = call(tool, callee);
    if !blocking && opened.is_empty() {
        return quote!({ #lines __tw::answering(#call, #codec) });
    }
    let value = if blocking {
        // Resources move to the blocking thread and come back to be closed.
        quote! {
            let (__tw_value, #(#opened),*) = __tw::blocking(move || {
                let __tw_value = #call;
                (__tw_value, #(#opened),*)
            }).await;
        }
    } else {
        quote!(let __tw_value = #call.await;)
    };
    let close = close_all(&opened);
    quote! {
        __tw::Box::pin(async move {
            #lines
            #value
            let __tw_ended = #codec.encode(__tw_value);
            #close
            __tw_ended
        })
    }
}

/// Closes resources, the last opened first.
fn close_all(opened: &[Ident]) -> TokenStream {
    let closed = opened.iter().rev();
    quote!(#(let __tw_ended = __tw::close(#closed, __tw_ended).await;)*)
}

fn call(tool: &Tool, callee: &TokenStream) -> TokenStream {
    let blocking = tool.args.blocking.is_some();
    let (mut inputs, mut borrowed) = (0, 0);
    let arguments = tool.arguments.iter().map(|argument| match argument {
        Argument::Input(param) => {
            let local = input::local(tool, inputs, param);
            inputs += 1;
            quote!(#local)
        }
        Argument::Shared(_) | Argument::Exclusive(_) => {
            let local = capability_local(borrowed);
            borrowed += 1;
            match argument {
                Argument::Exclusive(_) => quote!(&mut #local),
                _ if blocking => quote!(&*#local),
                _ => quote!(#local),
            }
        }
    });
    quote!(#callee(#(#arguments),*))
}

fn callee(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    match &tool.self_type {
        Some(ty) => quote!(<#ty>::#function),
        None => quote!(#function),
    }
}

/// Each capability in signature order, and whether it is opened for this call alone.
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

/// The user's place with the macro's hygiene: names resolve as generated code, errors point at
/// what the user wrote. A raw span would break tools that `macro_rules!` produce.
fn at(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}

/// The parameter's place, for messages about its type.
fn type_span(param: &Param) -> Span {
    at(param.ty.span())
}
