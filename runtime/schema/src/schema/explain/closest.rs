//! Finds the branch of a union that the author of a value probably meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::steps::{Kind, Step, Walk, Way, address};

/// How badly a value fits one branch of a union.
#[derive(Debug, Default)]
struct Fit {
    /// Whether the value does not have the type or the tag that the branch requires.
    is_ruled_out: bool,
    /// The number of errors that concern the value itself and not its parts.
    at_the_surface: usize,
    /// Whether a part of the value has a wrong type, or is none of the allowed choices.
    is_doubtful: bool,
}

/// Returns the branch that the value fits best; `None` if several branches fit equally well. A branch with another type
/// or tag than the value is excluded.
pub(super) fn closest(walk: &Walk, step: &Step, value: &Value) -> Option<usize> {
    let mut meant: Vec<(usize, Fit)> = Vec::new();
    for (index, way) in step.ways.iter().enumerate() {
        let mut fit = Fit::default();
        weigh(walk, way, value, &mut vec![way.with(value)], &mut fit);
        if walk.is_exhausted() {
            return None;
        }
        if !fit.is_ruled_out {
            meant.push((index, fit));
        }
    }
    let least = meant.iter().map(|(_, fit)| fit.at_the_surface).min()?;
    meant.retain(|(_, fit)| fit.at_the_surface == least);
    if meant.len() > 1 {
        meant.retain(|(_, fit)| !fit.is_doubtful);
    }
    match meant.as_slice() {
        [(only, _)] => Some(*only),
        _ => None,
    }
}

/// Adds to `fit` the errors of a value at a place, and at the places to which references lead from there.
fn weigh(walk: &Walk, way: &Way, value: &Value, followed: &mut Vec<(usize, usize)>, fit: &mut Fit) {
    let (errors, failed) = walk.errors(way, value, false);
    errors.iter().for_each(|error| count(error, fit));
    for (step, part) in failed {
        match step.kind {
            Kind::Reference if part == address(value) => {
                for way in &step.ways {
                    let look = way.with(value);
                    if !followed.contains(&look) {
                        followed.push(look);
                        weigh(walk, way, value, followed, fit);
                    }
                }
            }
            _ if part == address(value) => fit.at_the_surface += 1,
            _ => {}
        }
    }
}

fn count(error: &ValidationError<'_>, fit: &mut Fit) {
    use ValidationErrorKind::{Constant, Enum, Type};
    let place = error.instance_path().as_str();
    let is_choice = matches!(error.kind(), Constant { .. } | Enum { .. });
    let is_type = matches!(error.kind(), Type { .. });
    match place.matches('/').count() {
        0 => {
            fit.is_ruled_out |= is_type || is_choice;
            fit.at_the_surface += 1;
        }
        1 => fit.is_ruled_out |= is_tag(error.kind()),
        _ => {}
    }
    fit.is_doubtful |= is_type || is_choice;
}

/// Returns whether an error shows that a key has only one valid value, which identifies the branch.
fn is_tag(kind: &ValidationErrorKind) -> bool {
    match kind {
        ValidationErrorKind::Constant { .. } => true,
        ValidationErrorKind::Enum { options } => {
            options.as_array().is_some_and(|options| options.len() == 1)
        }
        _ => false,
    }
}
