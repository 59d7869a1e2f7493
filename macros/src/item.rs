//! The annotated items as the user wrote them. Bodies are not parsed, because rustc reports the mistakes in them.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, ImplItem, Meta, Signature, Token, Type, Visibility, braced, token};

use crate::errors::Errors;

/// A function. Its body is stored as tokens that are not parsed.
pub struct Function {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub signature: Signature,
    /// The semicolon in place of the body, if the function is only declared.
    pub end: Option<Span>,
    pub body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !starts_a_function(input) {
            return Err(input.error(
                "a tool is a function: write `#[tool]` on an `async fn`, or `#[tools]` on an `impl` block",
            ));
        }
        let signature = input.parse()?;
        let end = input.peek(Token![;]).then(|| input.span());
        Ok(Self { attributes, visibility, signature, end, body: one_tree(input)? })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attribute in &self.attributes {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

/// An inherent `impl` block. The bodies of its methods are stored as tokens that are not parsed.
pub struct Methods {
    pub attributes: Vec<Attribute>,
    pub generics: Generics,
    pub self_type: Type,
    pub items: Vec<Member>,
}

/// One item of an `impl` block.
pub enum Member {
    Function(Box<Function>),
    Other(Box<ImplItem>),
}

impl Parse for Methods {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        if !input.peek(Token![impl]) {
            return Err(input.error(
                "`#[tools]` belongs on an inherent `impl` block: `#[tools] impl Service { … }`",
            ));
        }
        input.parse::<Token![impl]>()?;
        let generics = if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
        let self_type: Type = input.parse()?;
        if input.peek(Token![for]) {
            return Err(input.error(
                "tools of a trait implementation cannot be registered; move them to an inherent `impl` block",
            ));
        }
        let where_clause = input.parse()?;
        let content;
        braced!(content in input);
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self { attributes, generics: Generics { where_clause, ..generics }, self_type, items })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if starts_a_function(&ahead) {
            input.parse().map(Box::new).map(Self::Function)
        } else {
            input.parse().map(Box::new).map(Self::Other)
        }
    }
}

impl ToTokens for Methods {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attribute in &self.attributes {
            attribute.to_tokens(tokens);
        }
        <Token![impl]>::default().to_tokens(tokens);
        self.generics.to_tokens(tokens);
        self.self_type.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);
        token::Brace::default().surround(tokens, |tokens| {
            for item in &self.items {
                match item {
                    Member::Function(function) => function.to_tokens(tokens),
                    Member::Other(item) => item.to_tokens(tokens),
                }
            }
        });
    }
}

/// Removes the `#[tool]` of a method and returns it; `None` if the method has none.
pub fn take_tool_attribute(function: &mut Function) -> Option<Attribute> {
    let index = function.attributes.iter().position(names_tool)?;
    Some(function.attributes.remove(index))
}

/// Returns whether an attribute is `#[tool]`, with any path before the name.
pub fn names_tool(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "tool")
}

/// Returns the attributes of an item of an `impl` block that is not a function.
pub fn attributes_of(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Removes `#[tool]` from an item that is not a function and so cannot be a tool.
pub fn strip_tool_attributes(item: &mut ImplItem) {
    match item {
        ImplItem::Const(item) => item.attrs.retain(|it| !names_tool(it)),
        ImplItem::Type(item) => item.attrs.retain(|it| !names_tool(it)),
        ImplItem::Macro(item) => item.attrs.retain(|it| !names_tool(it)),
        _ => {}
    }
}

/// Returns the tokens in the parentheses of an attribute.
pub fn attribute_tokens(attribute: &Attribute, errors: &mut Errors) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(pair) => {
            errors.over(&pair.value, "options stand in parentheses: `#[tool(name = \"…\")]`");
            TokenStream::new()
        }
    }
}

/// Removes the macro's own attributes from an item that could not be parsed, because rustc would report them as well.
pub fn without_our_attributes(item: TokenStream) -> TokenStream {
    without(item, OURS)
}

const OURS: &[&str] = &["tool", "arg", "input"];
const PARAMETERS: &[&str] = &["tool", "arg", "input", "doc"];

/// Removes the attributes with these names.
pub fn without(tokens: TokenStream, names: &[&str]) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut kept = TokenStream::new();
    while let Some(token) = tokens.next() {
        let is_ours = |next: &TokenTree| match next {
            TokenTree::Group(group) => match group.stream().into_iter().next() {
                Some(TokenTree::Ident(name)) => names.iter().any(|ours| name == ours),
                _ => false,
            },
            _ => false,
        };
        match token {
            TokenTree::Punct(hash)
                if hash.as_char() == '#' && tokens.peek().is_some_and(is_ours) =>
            {
                tokens.next();
            }
            TokenTree::Group(group) => {
                // In a parameter list, doc comments are removed too: rustc allows none there.
                let inner = match group.delimiter() {
                    Delimiter::Parenthesis if names == OURS => PARAMETERS,
                    _ => names,
                };
                let mut again = Group::new(group.delimiter(), without(group.stream(), inner));
                again.set_span(group.span());
                kept.extend([TokenTree::Group(again)]);
            }
            token => kept.extend([token]),
        }
    }
    kept
}

/// Returns whether `fn` follows, after any qualifiers such as `async`.
fn starts_a_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    loop {
        if ahead.peek(Token![fn]) {
            return true;
        }
        let qualifier = ahead.peek(Token![async])
            || ahead.peek(Token![const])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern])
            || ahead.peek(syn::LitStr);
        if !qualifier || one_tree(&ahead).is_err() {
            return false;
        }
    }
}

fn one_tree(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    input.parse::<TokenTree>().map(TokenStream::from)
}
