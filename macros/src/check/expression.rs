//! Checks the expressions in attributes. Refuses expressions that are valid Rust but cannot work in an attribute.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, FnArg, Pat, Signature, Stmt};

use crate::args::{Approval, DANGERS, Danger, Preset};
use crate::errors::{Errors, one_of};
use crate::model::Tool;

pub fn rules(tool: &Tool, signature: &Signature, errors: &mut Errors) {
    let args = &tool.args;
    let danger = match &args.danger {
        Some(Danger::Expression(expression)) => Some(expression),
        _ => None,
    };
    let approval = match &args.approval {
        Some(Approval::Expression(expression)) => Some(expression),
        _ => None,
    };
    for (key, expression) in [("danger", danger), ("approval", approval)] {
        let Some(expression) = expression else { continue };
        match expression {
            Expr::Closure(closure) => errors.over(
                closure,
                format!("`{key}` is an expression over the parameters already; drop the `|…|`"),
            ),
            _ => answers(key, expression, errors),
        }
    }
    if let Some(danger) = danger {
        words(danger, signature, errors);
    }
    let touched = [("reads", &args.reads), ("writes", &args.writes)];
    for (key, touches) in touched {
        let entries = touches.iter().flat_map(|touches| &touches.entries);
        entries.filter_map(|touch| touch.resource.as_ref()).for_each(|it| answers(key, it, errors));
    }
    for param in tool.inputs() {
        if let Some(Preset::Value(default)) = &param.args.default {
            answers("default", default, errors);
        }
        if let Some(fill) = &param.args.fill {
            answers("fill", fill, errors);
        }
        param.args.examples.iter().for_each(|example| answers("example", example, errors));
    }
}

/// Checks that an expression only evaluates to a value: it must not return early, await or propagate an error.
fn answers(key: &str, expression: &Expr, errors: &mut Errors) {
    let mut left = None;
    within(expression, &mut |inner| {
        left = left.take().or(match inner {
            Expr::Try(tried) => Some(("?", tried.question_token.span)),
            Expr::Return(returned) => Some(("return", returned.return_token.span)),
            Expr::Await(awaited) => Some((".await", awaited.await_token.span)),
            _ => None,
        });
    });
    let Some((what, span)) = left else { return };
    let message = match (what, key) {
        (".await", "approval") => {
            "an expression is known before anything is awaited; name the parameters: `approval = async |…| ….await`".to_owned()
        }
        (".await", "danger" | "reads" | "writes" | "fill") => format!(
            "`{key}` is known before anything of the call runs, so nothing can be awaited here; ask in the tool, or hand in a service that knows"
        ),
        (".await", _) => format!("the {key} is a constant; nothing can be awaited here"),
        (_, "approval") => format!(
            "`{what}` has nowhere to go: this approval is a reason or `None`; say what a failure means, such as `.unwrap_or_else(|error| …)`, or name the parameters: `approval = |…| …`"
        ),
        (_, "danger") => format!(
            "`{what}` has nowhere to go: danger is a level; say what a failure means, such as `.unwrap_or(Danger::Critical)`"
        ),
        (_, "fill") => format!(
            "`{what}` has nowhere to go: `{key}` is a value or `None`, which leaves the parameter absent"
        ),
        (_, "reads" | "writes") => format!(
            "`{what}` has nowhere to go: `{key}` names resources; an `Option` or a list of names will do"
        ),
        _ => format!("`{what}` has nowhere to go: the {key} is a value"),
    };
    errors.at(span, message);
}

/// Refuses a bare level, such as `dangerous`, inside a larger expression, where Rust expects a value.
fn words(danger: &Expr, signature: &Signature, errors: &mut Errors) {
    let mut ends = Vec::new();
    results(danger, &mut ends);
    let is_parameter = |word: &str| {
        signature.inputs.iter().any(|argument| match argument {
            FnArg::Typed(typed) => matches!(&*typed.pat, Pat::Ident(name) if name.ident == word),
            FnArg::Receiver(_) => false,
        })
    };
    let mut found: Vec<(String, Span)> = Vec::new();
    for (word, span) in ends {
        let is_level = DANGERS.contains(&word.as_str()) && !is_parameter(&word);
        if is_level && !found.iter().any(|(known, _)| *known == word) {
            found.push((word, span));
        }
    }
    // If a word also occurs elsewhere in the expression, it may be a variable that the user declares there. Such a word
    // is not reported.
    let tokens = danger.to_token_stream();
    found.retain(|(word, _)| count(tokens.clone(), word) == count_of_results(danger, word));
    let Some((_, span)) = found.first() else { return };
    let written: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
    let levels: Vec<String> =
        written.iter().map(|word| format!("Danger::{}", capital(word))).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let message = format!(
        "only `danger = {}` takes a bare word; within an expression a level is a value: {}, of `toolwright::Danger`",
        written.first().copied().unwrap_or_default(),
        one_of(&levels)
    );
    errors.at(*span, message);
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

fn count(tokens: TokenStream, word: &str) -> usize {
    let each = |token| match token {
        TokenTree::Ident(ident) => usize::from(ident == word),
        TokenTree::Group(group) => count(group.stream(), word),
        _ => 0,
    };
    tokens.into_iter().map(each).sum()
}

fn count_of_results(danger: &Expr, word: &str) -> usize {
    let mut ends = Vec::new();
    results(danger, &mut ends);
    ends.iter().filter(|(end, _)| end == word).count()
}

/// Collects the single words to which an expression may evaluate, in all its branches.
fn results(expression: &Expr, ends: &mut Vec<(String, Span)>) {
    match expression {
        Expr::Path(path) => {
            if let Some(word) = path.path.get_ident() {
                ends.push((word.to_string(), word.span()));
            }
        }
        Expr::If(branch) => {
            last(&branch.then_branch, ends);
            branch.else_branch.iter().for_each(|(_, other)| results(other, ends));
        }
        Expr::Match(choice) => choice.arms.iter().for_each(|arm| results(&arm.body, ends)),
        Expr::Block(block) => last(&block.block, ends),
        Expr::Paren(paren) => results(&paren.expr, ends),
        Expr::Group(group) => results(&group.expr, ends),
        _ => {}
    }
}

fn last(block: &Block, ends: &mut Vec<(String, Span)>) {
    if let Some(Stmt::Expr(expression, None)) = block.stmts.last() {
        results(expression, ends);
    }
}

/// Visits an expression and its parts. Closures and `async` blocks are skipped, because errors and returns inside of
/// them do not leave the expression.
fn within(expression: &Expr, see: &mut dyn FnMut(&Expr)) {
    see(expression);
    match expression {
        Expr::Array(array) => array.elems.iter().for_each(|it| within(it, see)),
        Expr::Await(awaited) => within(&awaited.base, see),
        Expr::Binary(binary) => {
            within(&binary.left, see);
            within(&binary.right, see);
        }
        Expr::Block(block) => within_block(&block.block, see),
        Expr::Call(call) => {
            within(&call.func, see);
            call.args.iter().for_each(|it| within(it, see));
        }
        Expr::Cast(cast) => within(&cast.expr, see),
        Expr::Field(field) => within(&field.base, see),
        Expr::Group(group) => within(&group.expr, see),
        Expr::If(branch) => {
            within(&branch.cond, see);
            within_block(&branch.then_branch, see);
            branch.else_branch.iter().for_each(|(_, other)| within(other, see));
        }
        Expr::Index(index) => within(&index.expr, see),
        Expr::Let(binding) => within(&binding.expr, see),
        Expr::Match(choice) => {
            within(&choice.expr, see);
            choice.arms.iter().for_each(|arm| within(&arm.body, see));
        }
        Expr::MethodCall(call) => {
            within(&call.receiver, see);
            call.args.iter().for_each(|it| within(it, see));
        }
        Expr::Paren(paren) => within(&paren.expr, see),
        Expr::Reference(reference) => within(&reference.expr, see),
        Expr::Struct(made) => made.fields.iter().for_each(|field| within(&field.expr, see)),
        Expr::Try(tried) => within(&tried.expr, see),
        Expr::Tuple(tuple) => tuple.elems.iter().for_each(|it| within(it, see)),
        Expr::Unary(unary) => within(&unary.expr, see),
        _ => {}
    }
}

fn within_block(block: &Block, see: &mut dyn FnMut(&Expr)) {
    for statement in &block.stmts {
        match statement {
            Stmt::Expr(expression, _) => within(expression, see),
            Stmt::Local(local) => {
                local.init.iter().for_each(|init| within(&init.expr, see));
            }
            _ => {}
        }
    }
}
