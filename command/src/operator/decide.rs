//! Makes a decision about a call: prints the call, signs the decision, submits it to the approval service, and prints
//! what the service recorded.

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

/// How many digits of a digest the commands print.
const DIGITS: usize = 12;

/// The fewest digits of a digest that `--digest` accepts.
const FEWEST: usize = 8;

const DIGEST: &str = "digest";
const UNSEEN: &str = "unseen";

/// The option `--digest`: the decision counts only for the call with this digest, which the person has read.
pub(crate) fn digest() -> Arg {
    digits(DIGEST, "`approvals show`")
        .help("Decide only if the call's digest still begins with these digits")
}

/// The option `--unseen`: decides even about a call whose sealed arguments this command cannot check.
pub(crate) fn unseen() -> Arg {
    Arg::new(UNSEEN).long(UNSEEN).display_order(99).action(ArgAction::SetTrue).help(
        "Decide also if the arguments are sealed, so that only the application can tell whether those shown would run; if they would not, it asks again",
    )
}

/// Makes an option for the first digits of a digest, which another command (`printed_by`) has printed.
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

/// Makes decisions on behalf of the person whose key signs them.
pub(crate) struct Decider<'a> {
    session: &'a Session,
    key: ApproverKey,
    /// The digits with which the call's digest has to begin.
    digest: Option<String>,
    /// Whether to decide even if this command cannot verify that the arguments it prints are those that would run.
    is_unseen: bool,
}

/// A decision about a call that is not signed yet.
pub(crate) struct CallDecision<'a> {
    pub(crate) call: &'a CallRecord,
    pub(crate) statement: Statement,
    /// The state that the call must have for this decision.
    pub(crate) of: State,
    /// The verb that is printed before the call, such as `approving`.
    pub(crate) doing: &'static str,
}

impl<'a> Decider<'a> {
    /// Makes a decider with the key that the command line or the environment names, or else with the user's only key.
    pub(crate) fn of(matches: &ArgMatches, session: &'a Session) -> Result<Self, Stop> {
        let digest = matches.try_get_one::<String>(DIGEST).ok().flatten().cloned();
        let is_unseen = matches.try_get_one::<bool>(UNSEEN).ok().flatten().is_some_and(|it| *it);
        Ok(Self { session, key: signing::key(matches)?, digest, is_unseen })
    }

    /// Returns the name of the person whose key signs.
    pub(crate) fn name(&self) -> &str {
        self.key.name()
    }

    /// Submits the decision about the call as this command read it. The service refuses the decision if the call has
    /// changed since.
    pub(crate) async fn decide(&self, decision: CallDecision<'_>) -> Result<(), Stop> {
        let same = decision.statement.verdict.clone();
        self.decide_or_repeat(decision, |verdict| *verdict == same).await
    }

    /// Like [`decide`](Self::decide), but `counts` says which recorded decisions equal this one. If such a decision is
    /// recorded, a repeated command succeeds.
    pub(crate) async fn decide_or_repeat(
        &self,
        decision: CallDecision<'_>,
        counts: impl Fn(&Decision) -> bool,
    ) -> Result<(), Stop> {
        let CallDecision { call, statement, of, doing } = decision;
        self.refuse_another(call)?;
        let digest: String = call.digest.chars().take(DIGITS).collect();
        let (tool, shown) = (printable::line(&call.tool), printable::line(&call.shown));
        // Do not print arguments that were altered, or that this command cannot check; the approval service says why it
        // refuses them.
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
        let recorded =
            if call.state == of { None } else { self.find_recorded(call, counts).await? };
        let submitted = match recorded {
            Some(signed) => self.service().submit(signed, Timestamp::now()).await?,
            None => self.service().sign_and_submit(statement, &self.key).await?,
        };
        // A repeated decision was recorded earlier, and the call may have changed its state since.
        let state = if submitted.repeated { Some(call.state) } else { submitted.to };
        self.write(&submitted, state)
    }

    /// Revokes a grant, with a signed statement.
    pub(crate) async fn revoke(&self, grant: &str) -> Result<(), Stop> {
        tell("revoking", format!("grant {}", printable::line(grant)));
        let submitted = self.service().revoke(grant, &self.key).await?;
        self.write(&submitted, None)
    }

    /// Refuses a call with another digest: a process that can write to the journal could have replaced the call after
    /// the person read it.
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

    /// Returns the last decision in the call's history if this person made it in the call's present generation. An edit
    /// or a "did not happen" begins a new generation, in which an equal decision is another decision.
    async fn find_recorded(
        &self,
        call: &CallRecord,
        counts: impl Fn(&Decision) -> bool,
    ) -> Result<Option<SignedStatement>, Stop> {
        let history = self.session.store.history(call.id).await?;
        let key = self.key.public().to_string();
        let last = history.into_iter().rev().find(|entry| entry.signed.is_some());
        let last = last.filter(|entry| entry.generation == call.generation);
        let signed = last.and_then(|entry| entry.signed).filter(|signed| signed.key == key);
        Ok(signed.filter(|signed| signed.statement().is_ok_and(|it| counts(&it.verdict))))
    }
}
