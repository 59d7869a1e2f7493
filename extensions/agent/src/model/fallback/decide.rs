//! Decides which model is asked, and how long a model rests after a failure. The functions are pure.

use std::time::Duration;

use toolwright::ErrorClass;

use crate::model::ModelError;

/// How long a model is not asked after an error that concerns its account or its name: an operator may have fixed the
/// cause by then.
const UNTIL_CHANGED: Duration = Duration::from_secs(600);

/// How long a model rests after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The request itself is invalid: no other model is asked.
    None,
    /// Another model may accept this request; this model may accept the next request.
    ThisRequest,
    /// The model is not asked for this long.
    For(Duration),
}

/// Returns how long a model rests after a failure.
pub(super) fn rest_after(error: &ModelError, rest: Duration) -> Rest {
    match (error.kind(), error.classified()) {
        ("quota_spent" | "wrong_key" | "no_key" | "not_found" | "redirected", _) => {
            Rest::For(rest.max(UNTIL_CHANGED))
        }
        ("context_too_long" | "request_too_large" | "response_too_large", _) => Rest::ThisRequest,
        ("invalid_response", _) | (_, ErrorClass::NotStarted { .. } | ErrorClass::Transient) => {
            Rest::For(error.retry_after().map_or(rest, |wanted| wanted.max(rest)))
        }
        _ => Rest::None,
    }
}

/// Returns the first model that was not asked yet and does not rest. If all of these models rest, returns the one whose
/// rest ends first.
pub(super) fn next(resting: &[Option<Duration>], asked: &[bool]) -> Option<usize> {
    let left = |index: &usize| resting[*index].unwrap_or_default();
    (0..resting.len()).filter(|index| !asked[*index]).min_by_key(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_first_model_that_does_not_rest_is_asked() {
        let second = Some(Duration::from_secs(1));
        let first = |resting: &[Option<Duration>]| next(resting, &vec![false; resting.len()]);
        assert_eq!(first(&[None, None]), Some(0));
        assert_eq!(first(&[Some(MINUTE), None, None]), Some(1));
        assert_eq!(first(&[Some(Duration::ZERO), None]), Some(0), "it has rested");
        assert_eq!(first(&[Some(MINUTE), second]), Some(1), "all rest");
    }

    #[test]
    fn after_a_failure_a_model_that_rests_is_asked_last() {
        let resting = [Some(MINUTE), Some(MINUTE), None];
        assert_eq!(next(&resting, &[false, true, false]), Some(2));
        assert_eq!(next(&resting, &[false, true, true]), Some(0));
        assert_eq!(next(&resting, &[true; 3]), None);
    }

    #[test]
    fn a_failure_says_how_long_its_model_rests() {
        let error = |kind: &'static str, class| ModelError::new(kind, "no").class(class);
        let later =
            |delay| ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(delay)) };
        let busy = ErrorClass::NotStarted { retry_after: None };
        for (error, rest) in [
            (error("overloaded", busy), Rest::For(MINUTE)),
            (error("rate_limited", later(90)), Rest::For(Duration::from_secs(90))),
            (error("rate_limited", later(9)), Rest::For(MINUTE)),
            (error("server_error", ErrorClass::Transient), Rest::For(MINUTE)),
            (error("quota_spent", ErrorClass::Final), Rest::For(UNTIL_CHANGED)),
            (error("wrong_key", ErrorClass::Final), Rest::For(UNTIL_CHANGED)),
            (error("no_key", ErrorClass::Final), Rest::For(UNTIL_CHANGED)),
            (error("context_too_long", ErrorClass::Final), Rest::ThisRequest),
            (error("invalid_request", ErrorClass::Final), Rest::None),
            (error("invalid_settings", ErrorClass::Final), Rest::None),
        ] {
            assert_eq!(rest_after(&error, MINUTE), rest, "{error:?}");
        }
    }
}
