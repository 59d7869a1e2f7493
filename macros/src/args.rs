//! The attributes as written: each option with its span, nothing checked against the signature yet.

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

pub use companion::Companion;
pub use param::{Bound, BoundValue, ParamArgs, Preset, number};
pub use value::{DANGERS, Timeout, check_name};

const TOOL_OPTIONS: &[&str] = &[
    "name",
    "title",
    "group",
    "tags",
    "terminal",
    "danger",
    "effect",
    "reads",
    "writes",
    "approval",
    "preview",
    "reconcile",
    "retry",
    "timeout",
    "total_timeout",
    "limit",
    "repair",
    "handle",
    "blocking",
    "hidden",
    "deferred",
    "crate",
];
const IMPL_OPTIONS: &[&str] = &["group", "tags", "crate"];
const RETRY_OPTIONS: &[&str] = &["attempts", "delay", "max_delay"];
const EFFECTS: &[&str] = &["read", "idempotent", "keyed", "once"];
const REPAIRS: &[&str] = &["off", "standard", "lenient"];

/// What `#[tool(…)]` says.
#[derive(Default)]
pub struct ToolArgs {
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub group: Option<LitStr>,
    pub tags: Vec<LitStr>,
    pub terminal: bool,
    pub danger: Option<Danger>,
    pub effect: Option<Ident>,
    pub reads: Option<Touches>,
    pub writes: Option<Touches>,
    pub approval: Option<Expr>,
    pub preview: Option<Companion>,
    pub reconcile: Option<Companion>,
    pub retry: Option<Retry>,
    pub timeout: Option<Timeout>,
    pub total_timeout: Option<Timeout>,
    pub limit: Option<u32>,
    pub repair: Option<Ident>,
    pub handle: Option<Ident>,
    pub blocking: Option<Span>,
    pub hidden: Option<Span>,
    pub deferred: Option<Span>,
    pub krate: Option<Path>,
}

/// `danger = safe`, or an expression over the parameters.
pub enum Danger {
    Level(Ident),
    Expression(Expr),
}

/// `reads(file = path, …)`.
pub struct Touches {
    pub key: Ident,
    pub entries: Vec<Touch>,
}

/// `file = path`, or `file` alone for every resource of the kind.
pub struct Touch {
    pub kind: Path,
    pub resource: Option<Expr>,
}

/// `retry(attempts = 3, delay = "500ms", max_delay = "5s")`; what is left out is the executor's.
#[derive(Default)]
pub struct Retry {
    pub attempts: Option<u32>,
    pub delay: Option<u64>,
    pub max_delay: Option<u64>,
}

impl ToolArgs {
    pub fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        Self::parse_with(tokens, TOOL_OPTIONS, errors)
    }

    /// The options of `#[tools(…)]`, which hold for every tool of the `impl` block.
    pub fn parse_shared(tokens: TokenStream, errors: &mut Errors) -> Self {
        Self::parse_with(tokens, IMPL_OPTIONS, errors)
    }

    /// Takes from the `impl` block what the method does not say itself.
    pub fn inherit(&mut self, shared: &Self) {
        self.group = self.group.take().or_else(|| shared.group.clone());
        self.krate = self.krate.take().or_else(|| shared.krate.clone());
        self.tags.extend(shared.tags.iter().cloned());
    }

    fn parse_with(tokens: TokenStream, known: &[&str], errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            options::read(input, known, &mut Vec::new(), &[], errors, |key, input| {
                args.option(key, input)
            });
            Ok(())
        };
        let parsed = parser.parse2(tokens);
        errors.keep(parsed);
        args
    }

    fn option(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = Some(value::tool_name(key, input)?),
            "title" => self.title = Some(value::text(key, input)?),
            "group" => self.group = Some(value::text(key, input)?),
            "tags" => self.tags = value::texts(key, input)?,
            "terminal" => self.terminal = value::flag(key, input).map(|_| true)?,
            "danger" => self.danger = Some(danger(key, input)?),
            "effect" => self.effect = Some(value::word(key, input, EFFECTS)?),
            "reads" => self.reads = Some(touches(key, input)?),
            "writes" => self.writes = Some(touches(key, input)?),
            "approval" => self.approval = Some(value::expression(key, input, "\"…\"")?),
            "preview" => self.preview = Some(Companion::parse(key, input)?),
            "reconcile" => self.reconcile = Some(Companion::parse(key, input)?),
            "retry" => self.retry = Some(retry(key, input)?),
            "timeout" => self.timeout = Some(value::timeout(key, input)?),
            "total_timeout" => self.total_timeout = Some(value::timeout(key, input)?),
            "limit" => self.limit = Some(value::count(key, input)?),
            "repair" => self.repair = Some(value::word(key, input, REPAIRS)?),
            "handle" => self.handle = Some(value::identifier(key, input)?),
            "blocking" => self.blocking = Some(value::flag(key, input)?),
            "hidden" => self.hidden = Some(value::flag(key, input)?),
            "deferred" => self.deferred = Some(value::flag(key, input)?),
            "crate" => self.krate = Some(value::path(key, input)?),
            other => unreachable!("`{other}` is in no list of options"),
        }
        Ok(())
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

/// What may follow `danger =`.
pub fn danger_expected() -> String {
    format!("expected a level ({}) or an expression over the parameters", one_of(DANGERS))
}

fn touches(key: &Ident, input: ParseStream<'_>) -> syn::Result<Touches> {
    value::list_follows(key, input, "file = path")?;
    let content;
    parenthesized!(content in input);
    let entries = options::list(&content, |input| {
        let kind = input.call(Path::parse_mod_style).map_err(|error| {
            let message = format!("{}, expected a kind of resource: `file`", options::found(input));
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
    options::read(&content, RETRY_OPTIONS, &mut Vec::new(), &[], &mut errors, |key, input| {
        match key.to_string().as_str() {
            "attempts" => retry.attempts = Some(value::count(key, input)?),
            "delay" => retry.delay = Some(value::duration(key, input)?),
            _ => retry.max_delay = Some(value::duration(key, input)?),
        }
        Ok(())
    });
    errors.into_error().map_or(Ok(retry), Err)
}
