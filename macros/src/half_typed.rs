//! Detects functions that the user is still typing, with a parameter that has no type yet. Rustc has reported such a
//! function before it runs the macro, and would report it again if the macro returned it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Returns whether a function has a parameter without a type.
pub fn is_half_typed(function: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let Some(signature) = after_name(&tokens) else { return false };
    let parameters = after_generics(signature).iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            Some(group.stream())
        }
        _ => None,
    });
    parameters.is_some_and(|parameters| split(parameters).iter().any(|it| lacks_its_type(it)))
}

/// Returns the `impl` block without the functions that have a parameter without a type; `None` if there are no such
/// functions.
pub fn without_half_typed(block: TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = block.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.last() else { return None };
    let (mut item, mut items, mut found) = (Vec::new(), TokenStream::new(), false);
    for token in body.stream() {
        let is_end = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        item.push(token);
        if is_end {
            let item: TokenStream = std::mem::take(&mut item).into_iter().collect();
            match is_half_typed(item.clone()) {
                true => found = true,
                false => items.extend(item),
            }
        }
    }
    items.extend(item);
    let mut again = Group::new(body.delimiter(), items);
    again.set_span(body.span());
    tokens.pop();
    tokens.push(again.into());
    found.then(|| tokens.into_iter().collect())
}

/// Returns the tokens after the name of a function; `None` for another item, such as a `type` with a function pointer.
fn after_name(item: &[TokenTree]) -> Option<&[TokenTree]> {
    const QUALIFIERS: [&str; 7] = ["pub", "default", "const", "async", "unsafe", "safe", "extern"];
    let mut rest = without_attributes(item);
    loop {
        rest = match rest {
            [word, TokenTree::Ident(_), after @ ..] if is_word(word, "fn") => return Some(after),
            [word, after @ ..] if QUALIFIERS.iter().any(|it| is_word(word, it)) => after,
            // The scope of a visibility, or an ABI.
            [TokenTree::Group(_) | TokenTree::Literal(_), after @ ..] => after,
            _ => return None,
        };
    }
}

/// Returns the tokens from the end of a function's generic parameters on, whose bounds can have parameter lists too.
fn after_generics(signature: &[TokenTree]) -> &[TokenTree] {
    let (mut depth, mut is_arrow) = (0_i32, false);
    for (index, token) in signature.iter().enumerate() {
        let sign = sign(token);
        depth += nesting(sign, is_arrow);
        is_arrow = sign == '-';
        if depth == 0 {
            return &signature[index..];
        }
    }
    &[]
}

/// Splits a parameter list at the commas outside of angle brackets.
fn split(list: TokenStream) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut depth, mut is_arrow) = (vec![Vec::new()], 0_i32, false);
    for token in list {
        let sign = sign(&token);
        if sign == ',' && depth == 0 {
            parts.push(Vec::new());
            continue;
        }
        depth += nesting(sign, is_arrow);
        is_arrow = sign == '-';
        if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts
}

/// Returns whether a parameter is only `word` or `word:`, apart from attributes and `mut`.
fn lacks_its_type(parameter: &[TokenTree]) -> bool {
    let mut rest = without_attributes(parameter);
    if let [first, after @ ..] = rest
        && is_word(first, "mut")
    {
        rest = after;
    }
    match rest {
        [name @ TokenTree::Ident(_)] => !is_word(name, "self"),
        [TokenTree::Ident(_), TokenTree::Punct(colon)] => colon.as_char() == ':',
        _ => false,
    }
}

fn without_attributes(tokens: &[TokenTree]) -> &[TokenTree] {
    let mut rest = tokens;
    while let [hash, TokenTree::Group(_), after @ ..] = rest
        && sign(hash) == '#'
    {
        rest = after;
    }
    rest
}

/// Returns the change of the depth in angle brackets. The `>` of an arrow closes none.
fn nesting(sign: char, is_arrow: bool) -> i32 {
    match sign {
        '<' => 1,
        '>' if !is_arrow => -1,
        _ => 0,
    }
}

/// Returns the character of a punctuation, or a space for another token.
fn sign(token: &TokenTree) -> char {
    match token {
        TokenTree::Punct(punct) => punct.as_char(),
        _ => ' ',
    }
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(found) if found == word)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_function_with_a_parameter_without_a_type_is_half_typed() {
        for function in [
            quote!(fn f(a) {}),
            quote!(#[doc = "F."] pub(crate) async fn f(a: u8, mut b:) -> u8 {}),
            quote!(unsafe extern "C" fn f<F: Fn(u8) -> u8, const N: usize>(work: F, path) {}),
        ] {
            assert!(is_half_typed(function.clone()), "{function}");
        }
    }

    #[test]
    fn a_function_pointer_or_a_bound_does_not_make_an_item_half_typed() {
        for item in [
            quote!(
                type Hook = fn(String) -> String;
            ),
            quote!(
                static F: fn(u8) = g;
            ),
            quote!(
                pub const F: fn(u8) = g;
            ),
            quote!(fn f<F: Fn(u8)>(work: F) -> u8 { 1 + }),
        ] {
            assert!(!is_half_typed(item.clone()), "{item}");
        }
        let expansion = crate::expand_tool(
            quote!(),
            quote!(
                type Hook = fn(String) -> String;
            ),
        );
        assert!(expansion.to_string().contains("compile_error"), "{expansion}");
    }
}
