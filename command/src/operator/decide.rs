//! From what a person says of a call to the journal: printed, handed to the approval service, and what was recorded of it.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use jiff::Timestamp;
use toolwright::approval::{
    ApprovalError, ApprovalService, ApproverKey, Decision, SignedStatement, Statement,
    SubmitOutcome,
};
use toolwright::journal::{CallRecord, State};

use super::{Session, Stop, signing};
use crate::shown::{decision, printable};
use crate::{Exit, tell};

/// How many digits of a digest are printed.
const DIGITS: usize = 12;

/// How many an approver has to give at least.
const FEWEST: usize = 8;

const DIGEST: &str = "digest";
const UNSEEN: &str = "unseen";

/// The option `--digest`: what was looked at is what is decided.
pub(crate) fn digest() -> Arg {
    digits(DIGEST, "`approvals show`")
        .help("Decide only if the call's digest still begins so, as when it was looked at")
}

/// The option `--unseen`: what cannot be compared is decided all the same.
pub(crate) fn unseen() -> Arg {
    Arg::new(UNSEEN).long(UNSEEN).display_order(99).action(ArgAction::SetTrue).help(
        "Decide also where the arguments are sealed, so that only the application can tell whether what is shown is \
         what would run; it asks again where it is not",
    )
}

/// The first digits of a digest that a command has printed.
pub(crate) fn digits(id: &'static str, printed_by: &'static str) -> Arg {
    Arg::new(id)
        .long("digest")
        .display_order(99)
        .value_name("DIGITS")
        .value_parser(move |text: &str| {
            let is_digest = text.len() >= FEWEST && text.bytes().all(|it| it.is_ascii_hexdigit());
            if is_digest {
                return Ok(text.to_ascii_lowercase());
            }
            Err(format!("expected the first {FEWEST} hexadecimal digits or more, as {printed_by} prints them"))
        })
}

/// Somebody who decides.
pub(crate) struct Decider<'a> {
    session: &'a Session,
    key: ApproverKey,
    /// How the digest of the call has to begin.
    digest: Option<String>,
    /// Whether calls are decided of which nothing can tell here whether they show what would run.
    is_unseen: bool,
}

/// What is said of a call.
pub(crate) struct Saying<'a> {
    pub(crate) call: &'a CallRecord,
    pub(crate) statement: Statement,
    /// The state in which a call can be decided on this way.
    pub(crate) of: State,
    /// What is done, as in `approving`.
    pub(crate) doing: &'static str,
}

impl<'a> Decider<'a> {
    /// With the key that the command line names.
    pub(crate) fn of(matches: &ArgMatches, session: &'a Session) -> Result<Self, Stop> {
        let digest = matches.try_get_one::<String>(DIGEST).ok().flatten().cloned();
        let is_unseen = matches.try_get_one::<bool>(UNSEEN).ok().flatten().is_some_and(|it| *it);
        Ok(Self { session, key: signing::key(matches)?, digest, is_unseen })
    }

    /// Who they are.
    pub(crate) fn name(&self) -> &str {
        self.key.name()
    }

    /// Says it, as the call was read: one that has changed meanwhile is not decided.
    pub(crate) async fn say(&self, saying: Saying<'_>) -> Result<(), Stop> {
        let same = saying.statement.verdict.clone();
        self.say_unless(saying, |verdict| *verdict == same).await
    }

    /// Does as [`say`](Self::say); `said` tells which decisions count as the one that was to be recorded.
    pub(crate) async fn say_unless(
        &self,
        saying: Saying<'_>,
        said: impl Fn(&Decision) -> bool,
    ) -> Result<(), Stop> {
        let Saying { call, statement, of, doing } = saying;
        self.refuse_another(call)?;
        let digest: String = call.digest.chars().take(DIGITS).collect();
        let (tool, shown) = (printable::line(&call.tool), printable::line(&call.shown));
        // Arguments that would not run are not printed as those that are decided; the service says why.
        match ApprovalService::check_shown(call) {
            Ok(()) => tell(doing, format!("{tool} {} with digest {digest}\n  {shown}", call.id)),
            Err(ApprovalError::Unseen { .. })
                if self.is_unseen || !statement.verdict.lets_run_as_shown() =>
            {
                let sealed = "its arguments are sealed: whether these are they, only the application can tell";
                tell(
                    doing,
                    format!("{tool} {} with digest {digest}\n  {shown}\n  {sealed}", call.id),
                );
            }
            Err(_) => {}
        }
        let before = if call.state == of { None } else { self.before(call, said).await? };
        let submitted = match before {
            Some(signed) => self.service().submit(signed, Timestamp::now()).await?,
            None => self.service().sign_and_submit(statement, &self.key).await?,
        };
        // Since it was recorded first, the call may have gone on.
        let state = if submitted.repeated { Some(call.state) } else { submitted.to };
        self.write(&submitted, state)
    }

    /// Takes a grant back.
    pub(crate) async fn revoke(&self, grant: &str) -> Result<(), Stop> {
        tell("revoking", format!("grant {}", printable::line(grant)));
        let submitted = self.service().revoke(grant, &self.key).await?;
        self.write(&submitted, None)
    }

    /// Whoever can write to the journal could put another call in the place of the one that was looked at.
    fn refuse_another(&self, call: &CallRecord) -> Result<(), Stop> {
        match &self.digest {
            Some(digits) if !call.digest.starts_with(digits.as_str()) => Err(Stop::new(
                Exit::Lost,
                format!(
                    "call {} has the digest {}, which does not begin with {digits}: it is not the call that was \
                     looked at; look again with `approvals show`",
                    call.id, call.digest
                ),
            )),
            _ => Ok(()),
        }
    }

    fn service(&self) -> ApprovalService {
        let service = ApprovalService::new(Arc::clone(&self.session.store));
        if self.is_unseen { service.unseen() } else { service }
    }

    fn write(&self, submitted: &SubmitOutcome, state: Option<State>) -> Result<(), Stop> {
        let shape = decision::DecisionRow::of(submitted, state);
        self.session.output.write(&shape, || shape.words())
    }

    /// What this person said before, where it is the last that anybody said and brought the call to the generation
    /// it is at. An edit, and that it did not happen, begin a new one, so that the same words about the call as it
    /// is now would be something else.
    async fn before(
        &self,
        call: &CallRecord,
        said: impl Fn(&Decision) -> bool,
    ) -> Result<Option<SignedStatement>, Stop> {
        let history = self.session.store.history(call.id).await?;
        let key = self.key.public().to_string();
        let last = history.into_iter().rev().find(|entry| entry.signed.is_some());
        let last = last.filter(|entry| entry.generation == call.generation);
        let signed = last.and_then(|entry| entry.signed).filter(|signed| signed.key == key);
        Ok(signed.filter(|signed| signed.statement().is_ok_and(|it| said(&it.verdict))))
    }
}
