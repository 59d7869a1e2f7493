//! `tools schema [NAME…]`: prints the schemas of tools, in their normal form or in the form that a provider takes.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};

use super::show::json;
use crate::cli::Exit;
use crate::cli::flags::Form;
use crate::cli::ordered::{object, text};
use crate::cli::streams::{complain, print, tell};
use toolwright_core::tool::Definition;
use toolwright_executor::catalog::Catalog;
use toolwright_wire::dialect::{DescribedTool, Dialect, Finding, Severity};

pub(super) const NAME: &str = "schema";

const DIALECT: &str = "dialect";

pub(super) fn command() -> Command {
    let dialect = Arg::new(DIALECT)
        .long("dialect")
        .value_name("DIALECT")
        .value_parser(PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)))
        .help("The provider's form; the normal form when absent");
    Command::new(NAME)
        .about("Print tools as models are shown them")
        .long_about(
            "Prints the schemas of tools in their normal form, one object a line.\n\n\
             With `--dialect` they have the form of a provider. Without names it is the value of `tools` in \
             a request, made of those that a model is shown at once; with names it is one element a line. \
             Standard error says what a provider does not take as it is.",
        )
        .arg(dialect)
        .arg(super::names("The tools, as models call them; all when absent"))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    let named = super::find_named(catalog, matches)?;
    let Some(dialect) = matches.get_one::<String>(DIALECT) else {
        let all = || catalog.definitions().collect();
        let shown = if named.is_empty() { all() } else { named };
        return shown.into_iter().try_for_each(|it| print(normal(it), Form::Json));
    };
    let dialect: Dialect = dialect.parse().map_err(|error| complain(Exit::Usage, error))?;
    if named.is_empty() { request(catalog, dialect) } else { elements(&named, dialect) }
}

fn normal(definition: &Definition) -> String {
    let mut entries = vec![
        ("name", text(&definition.name)),
        ("description", text(&definition.description)),
        ("input_schema", json(&definition.input_schema)),
    ];
    entries.extend(definition.output_schema.as_ref().map(|it| ("output_schema", json(it))));
    object(entries)
}

fn request(catalog: &Catalog, dialect: Dialect) -> Result<(), Exit> {
    match catalog.listing(dialect) {
        Ok(listing) => {
            report(listing.notes());
            print(listing.tools().get(), Form::Json)
        }
        Err(error) => {
            report(&error.findings);
            Err(Exit::Failed)
        }
    }
}

fn elements(named: &[&Definition], dialect: Dialect) -> Result<(), Exit> {
    let mut exit = Ok(());
    for definition in named {
        let order: Vec<&str> = definition.parameters.iter().map(|it| it.name.as_str()).collect();
        match dialect.render(&DescribedTool::of(definition, &order)) {
            Ok(rendered) => {
                report(&rendered.notes);
                print(rendered.json, Form::Json)?;
            }
            Err(findings) => {
                report(&findings);
                exit = Err(Exit::Failed);
            }
        }
    }
    exit
}

fn report(findings: &[Finding]) {
    for finding in findings {
        tell(if finding.severity == Severity::Error { "error" } else { "note" }, finding);
    }
}
