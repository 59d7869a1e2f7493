//! Detects functions that the user is still typing, with a parameter that has no type yet. Rustc has reported such a
//! function before it runs the macro, and would report it again if the macro returned it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Returns whether a function has a parameter without a type.
pub fn is_half_typed(function: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let Some(start) = tokens.iter().position(|token| is_word(token, "fn")) else { return false };
    let parameters = tokens[start..].iter().find_map(|token| match token {
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

/// Splits a parameter list at the commas outside of angle brackets.
fn split(list: TokenStream) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut depth, mut is_arrow) = (vec![Vec::new()], 0_i32, false);
    for token in list {
        let sign = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            '>' if !is_arrow => depth -= 1,
            ',' if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        is_arrow = sign == '-';
        if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts
}

/// Returns whether a parameter is only `word` or `word:`, apart from attributes and `mut`.
fn lacks_its_type(parameter: &[TokenTree]) -> bool {
    let mut rest = parameter;
    while let [TokenTree::Punct(hash), TokenTree::Group(_), after @ ..] = rest
        && hash.as_char() == '#'
    {
        rest = after;
    }
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

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(found) if found == word)
}
