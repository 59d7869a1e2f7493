//! Parses attributes into options, each with its span. This module does not check them against the signature.

mod advice;
mod companion;
mod options;
mod param;
pub mod value;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitStr, Path, Token, parenthesized};

use crate::errors::{Errors, one_of};

use options::Row;

pub use companion::Companion;
pub use param::{BoundValue, NumberLimit, ParamArgs, Preset, number};
pub use value::{DANGERS, Timeout, check_name};

/// The options that `#[tools(…)]` accepts for all tools of its `impl` block.
const SHARED: &[&str] = &["group", "tags", "unlinked", "crate"];
const EFFECTS: &[&str] = &["read", "idempotent", "keyed", "once"];
const REPAIRS: &[&str] = &["off", "standard", "lenient"];

/// Defines each option of the attribute in one place: the keyword, the field for the value, and the parser of the
/// value.
macro_rules! options {
    ($($written:literal $field:ident: $type:ty = $read:expr,)*) => {
        /// The options of one `#[tool(…)]`.
        #[derive(Default)]
        pub struct ToolArgs {
            $(pub $field: $type,)*
        }

        const OPTIONS: &[Row<ToolArgs>] = &[$((
            $written,
            |args, key, input| {
                let read = $read;
                args.$field = read(key, input)?.into();
                Ok(())
            },
        ),)*];
    };
}

options! {
    "name" name: Option<LitStr> = value::tool_name,
    "title" title: Option<LitStr> = value::text,
    "group" group: Option<LitStr> = value::text,
    "tags" tags: Vec<LitStr> = value::texts,
    "terminal" terminal: Option<Span> = value::flag,
    "external" external: Option<Span> = value::flag,
    "background" background: Option<Span> = value::switch,
    "danger" danger: Option<Danger> = danger,
    "effect" effect: Option<Ident> = |key, input| value::word(key, input, EFFECTS),
    "reads" reads: Option<Touches> = touches,
    "writes" writes: Option<Touches> = touches,
    "approval" approval: Option<Approval> = approval,
    "validate" validate: Option<Companion> = Companion::parse,
    "preview" preview: Option<Companion> = Companion::parse,
    "reconcile" reconcile: Option<Companion> = Companion::parse,
    "retry" retry: Option<Retry> = retry,
    "timeout" timeout: Option<Timeout> = value::timeout,
    "total_timeout" total_timeout: Option<Timeout> = value::timeout,
    "limit" limit: Option<u32> = value::count,
    "repair" repair: Option<Ident> = |key, input| value::word(key, input, REPAIRS),
    "handle" handle: Option<Ident> = value::identifier,
    "blocking" blocking: Option<Span> = value::flag,
    "hidden" hidden: Option<Span> = value::flag,
    "deferred" deferred: Option<Span> = value::flag,
    "unlinked" unlinked: Option<Span> = value::flag,
    "crate" krate: Option<Path> = value::path,
}

/// The value of `danger`: a level such as `safe`, or an expression over the tool's parameters.
pub enum Danger {
    Level(Ident),
    Expression(Expr),
}

/// The value of `approval`: an expression over the parameters, such as `"…"`, or a function next to the tool, which is
/// awaited.
pub enum Approval {
    Expression(Expr),
    Awaited(Companion),
}

/// The entries of `reads(file = path, …)` or `writes(…)`.
pub struct Touches {
    pub key: Ident,
    pub entries: Vec<Touch>,
}

/// One entry of `reads` or `writes`: `file = path`, or `file` alone for every resource of that kind.
pub struct Touch {
    pub kind: Path,
    pub resource: Option<Expr>,
}

/// The options of `retry(attempts = 3, delay = "500ms", max_delay = "5s")`. An option that is left out has the
/// executor's default.
#[derive(Default)]
pub struct Retry {
    pub attempts: Option<u32>,
    pub delay: Option<u64>,
    pub max_delay: Option<u64>,
}

impl ToolArgs {
    pub fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        Self::parse_with(tokens, OPTIONS, errors)
    }

    /// Parses the options of `#[tools(…)]`, which apply to every tool of the `impl` block.
    pub fn parse_shared(tokens: TokenStream, errors: &mut Errors) -> Self {
        let shared = OPTIONS.iter().filter(|(written, _)| SHARED.contains(written));
        Self::parse_with(tokens, &shared.copied().collect::<Vec<_>>(), errors)
    }

    /// Adds the options of the `impl` block. Its tags are added to the method's own tags. Each other option is used
    /// only if the method does not set it.
    pub fn inherit(&mut self, shared: &Self) {
        self.group = self.group.take().or_else(|| shared.group.clone());
        self.krate = self.krate.take().or_else(|| shared.krate.clone());
        self.unlinked = self.unlinked.or(shared.unlinked);
        self.tags.extend(shared.tags.iter().cloned());
    }

    fn parse_with(tokens: TokenStream, rows: &[Row<Self>], errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            options::read(input, rows, &mut args, &mut Vec::new(), &[], errors);
            Ok(())
        };
        let parsed = parser.parse2(tokens);
        errors.keep(parsed);
        args
    }
}

fn danger(key: &Ident, input: ParseStream<'_>) -> syn::Result<Danger> {
    let expression = value::expression(key, input, "safe")?;
    match &expression {
        Expr::Lit(literal) => {
            let expected = format!("{}{}", danger_expected(), value::without_quotes(key, literal));
            let message = format!("found `{}`, {expected}", literal.to_token_stream());
            Err(syn::Error::new_spanned(literal, message))
        }
        Expr::Path(path) => match path.path.get_ident() {
            Some(word) if DANGERS.contains(&word.to_string().as_str()) => {
                Ok(Danger::Level(word.clone()))
            }
            _ => Ok(Danger::Expression(expression)),
        },
        _ => Ok(Danger::Expression(expression)),
    }
}

/// Parses the value of `approval`, and distinguishes a closure or the path of a function from other expressions. A path
/// whose last segment is lower case counts as a function. The module `check` corrects that later if the path is a
/// parameter.
fn approval(key: &Ident, input: ParseStream<'_>) -> syn::Result<Approval> {
    let expression = value::expression(key, input, "\"…\"")?;
    Ok(match expression {
        Expr::Closure(closure) => Approval::Awaited(Companion::Closure(Box::new(closure))),
        Expr::Path(path) if path.qself.is_none() && is_function(&path.path) => {
            Approval::Awaited(Companion::Path(path.path))
        }
        expression => Approval::Expression(expression),
    })
}

fn is_function(path: &Path) -> bool {
    let last = path.segments.last().map(|it| it.ident.to_string());
    last.is_some_and(|it| it.starts_with(|first: char| first == '_' || first.is_lowercase()))
}

/// Returns the values that `danger` accepts, as words for an error message.
pub fn danger_expected() -> String {
    format!("expected a level ({}) or an expression over the parameters", one_of(DANGERS))
}

fn touches(key: &Ident, input: ParseStream<'_>) -> syn::Result<Touches> {
    value::list_follows(key, input, "file = path")?;
    let content;
    parenthesized!(content in input);
    let entries = options::list(&content, |input| {
        let kind = input.call(Path::parse_mod_style).map_err(|error| {
            let message =
                format!("{}, expected a kind of resource: `file`", options::describe_next(input));
            syn::Error::new(error.span(), message)
        })?;
        if let Some(word) = kind.get_ident()
            && word != "file"
            && word.to_string().starts_with(char::is_lowercase)
        {
            let message = format!(
                "unknown kind of resource `{word}`, expected `file` or a type that implements `ResourceKind`"
            );
            return Err(syn::Error::new(word.span(), message));
        }
        let resource = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Touch { kind, resource })
    })?;
    Ok(Touches { key: key.clone(), entries })
}

fn retry(key: &Ident, input: ParseStream<'_>) -> syn::Result<Retry> {
    value::list_follows(key, input, "attempts = 3")?;
    let content;
    parenthesized!(content in input);
    let mut retry = Retry::default();
    let mut errors = Errors::default();
    options::read(&content, RETRY_OPTIONS, &mut retry, &mut Vec::new(), &[], &mut errors);
    errors.into_error().map_or(Ok(retry), Err)
}

const RETRY_OPTIONS: &[Row<Retry>] = &[
    ("attempts", |retry, key, input| value::count(key, input).map(|it| retry.attempts = Some(it))),
    ("delay", |retry, key, input| value::duration(key, input).map(|it| retry.delay = Some(it))),
    ("max_delay", |retry, key, input| {
        value::duration(key, input).map(|it| retry.max_delay = Some(it))
    }),
];
