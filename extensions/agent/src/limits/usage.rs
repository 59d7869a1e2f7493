//! The usage of models: tokens and their cost.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// The tokens that a request and its answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// The tokens of the request.
    pub input_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
    /// The part of `input_tokens` that the provider had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of `input_tokens` that the provider put into its cache, if the provider charges for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of `cache_write_tokens` that stays cached for longer than usual, at a price of its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub long_cache_write_tokens: u64,
    /// The part of `output_tokens` that the model used for reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Counts the tokens of a request and of its answer.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Sets how many tokens of the request the provider had cached.
    #[must_use]
    pub fn cached(self, tokens: u64) -> Self {
        Self { cached_tokens: tokens, ..self }
    }

    /// Sets how many tokens of the request the provider put into its cache, which have a price of their own.
    #[must_use]
    pub fn cache_write(self, tokens: u64) -> Self {
        Self { cache_write_tokens: tokens, ..self }
    }

    /// Sets how many of the tokens that the provider put into its cache stay cached for longer than usual.
    #[must_use]
    pub fn long_cache_write(self, tokens: u64) -> Self {
        Self { long_cache_write_tokens: tokens, ..self }
    }

    /// Sets how many tokens of the answer were used for reasoning.
    #[must_use]
    pub fn reasoning(self, tokens: u64) -> Self {
        Self { reasoning_tokens: tokens, ..self }
    }

    /// Returns the tokens of requests and answers together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds the usage of another answer.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn with(self, other: Self, by: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input_tokens: by(self.input_tokens, other.input_tokens),
            output_tokens: by(self.output_tokens, other.output_tokens),
            cached_tokens: by(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: by(self.cache_write_tokens, other.cache_write_tokens),
            long_cache_write_tokens: by(
                self.long_cache_write_tokens,
                other.long_cache_write_tokens,
            ),
            reasoning_tokens: by(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} tokens in", self.input_tokens)?;
        if self.cached_tokens > 0 {
            write!(formatter, " ({} of them cached)", self.cached_tokens)?;
        }
        write!(formatter, ", {} out", self.output_tokens)?;
        if self.reasoning_tokens > 0 {
            write!(formatter, " ({} of them reasoning)", self.reasoning_tokens)?;
        }
        Ok(())
    }
}

/// An amount of money in US dollars, exact to the millionth of a millionth.
///
/// ```
/// use toolwright_agent::Cost;
///
/// let cost = Cost::cents(150).plus(Cost::picos(2_500_000_000));
/// assert_eq!(cost.to_string(), "$1.5025");
/// assert!(cost > Cost::cents(150));
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cost(u64);

const PICOS: u64 = 1_000_000_000_000;

impl Cost {
    /// Makes an amount of cents.
    #[must_use]
    pub const fn cents(cents: u64) -> Self {
        Self(cents.saturating_mul(PICOS / 100))
    }

    /// Makes an amount from millionths of a millionth of a dollar. A price of one millionth of a dollar for a million
    /// tokens is one such unit for each token.
    #[must_use]
    pub const fn picos(picos: u64) -> Self {
        Self(picos)
    }

    /// Returns the amount in millionths of a millionth of a dollar.
    #[must_use]
    pub const fn in_picos(self) -> u64 {
        self.0
    }

    /// Adds another amount.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts another amount; returns at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Parses an amount as people write it: `0.50 USD`, `$0.50`. The currency is required, so that an amount in another
/// currency is not taken for dollars.
///
/// ```
/// use toolwright_agent::Cost;
///
/// assert_eq!("0.50 USD".parse(), Ok(Cost::cents(50)));
/// assert_eq!("$1.50".parse(), Ok(Cost::cents(150)));
/// assert!("0.50".parse::<Cost>().is_err() && "0.50 EUR".parse::<Cost>().is_err());
/// ```
impl FromStr for Cost {
    type Err = CostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let amount = text.trim();
        let amount = amount.strip_prefix('$').or_else(|| amount.strip_suffix("USD"));
        let picos = amount.and_then(|amount| in_picos(amount.trim()));
        picos.map(Self).ok_or_else(|| CostError { found: text.to_owned() })
    }
}

/// Parses a number of dollars exactly; `None` if it is not a number with at most twelve decimal places, or is too
/// large.
fn in_picos(amount: &str) -> Option<u64> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 12 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(PICOS)?;
    whole.checked_add(format!("{fraction:0<12}").parse().ok()?)
}

/// Why a text is not an amount of money.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("found the amount `{found}`, expected dollars, such as `0.50 USD`")]
pub struct CostError {
    found: String,
}
toolwright::unstable::debug_as_sentence!(CostError);

/// Shows dollars with four decimal places, and with more if further places are not zero.
impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:012}", self.0 % PICOS);
        let digits = fraction.trim_end_matches('0').len().max(4);
        write!(formatter, "${}.{}", self.0 / PICOS, &fraction[..digits])
    }
}

/// The total usage of requests to models, including failed requests.
///
/// ```
/// use toolwright_agent::{Cost, TotalUsage, Usage};
///
/// let spent = TotalUsage::of(Some(Usage::new(1_200, 80)), Some(Cost::cents(2)));
/// let spent = spent.plus(TotalUsage::of(None, None));
/// assert_eq!(spent.to_string(), "1200 tokens in, 80 out, $0.0200; of 1 answers the tokens and of 1 the cost are not known");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TotalUsage {
    /// The tokens, as far as providers report them.
    pub usage: Usage,
    /// The cost of the requests, as far as prices are known.
    pub cost: Cost,
    /// The number of answers whose usage the provider does not report.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unmeasured: u32,
    /// The number of answers whose cost is not known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unpriced: u32,
    /// The number of requests that broke off and whose usage is unknown. Limits count this usage as zero.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(answers: &u32) -> bool {
    *answers == 0
}

impl TotalUsage {
    /// Makes the usage of one answer from the parts of it that are known.
    #[must_use]
    pub fn of(usage: Option<Usage>, cost: Option<Cost>) -> Self {
        Self {
            usage: usage.unwrap_or_default(),
            cost: cost.unwrap_or_default(),
            unmeasured: u32::from(usage.is_none()),
            unpriced: u32::from(cost.is_none()),
            lost: 0,
        }
    }

    /// Makes the usage of a request that broke off without a report of the provider.
    #[must_use]
    pub fn lost() -> Self {
        Self { lost: 1, ..Self::default() }
    }

    /// Returns the least number of failed requests that this usage comes from: the number of lost requests, but at
    /// least 1 unless the usage is empty.
    pub(crate) fn requests(&self) -> u32 {
        self.lost.max(u32::from(*self != Self::default()))
    }

    /// Returns the cost of the answers whose price is known; `None` if there are answers without a known price, and the
    /// others cost nothing.
    ///
    /// ```
    /// use toolwright_agent::{Cost, TotalUsage, Usage};
    ///
    /// let spent = TotalUsage::of(Some(Usage::new(1_200, 80)), None);
    /// assert_eq!(spent.known_cost(), None);
    /// assert_eq!(spent.to_string(), "1200 tokens in, 80 out; of 0 answers the tokens and of 1 the cost are not known");
    /// assert_eq!(TotalUsage::default().known_cost(), Some(Cost::default()));
    /// ```
    #[must_use]
    pub fn known_cost(&self) -> Option<Cost> {
        (self.unpriced == 0 || self.cost > Cost::default()).then_some(self.cost)
    }

    /// Adds another usage.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            usage: self.usage.plus(other.usage),
            cost: self.cost.plus(other.cost),
            unmeasured: self.unmeasured.saturating_add(other.unmeasured),
            unpriced: self.unpriced.saturating_add(other.unpriced),
            lost: self.lost.saturating_add(other.lost),
        }
    }

    /// Returns the usage since an earlier total, which is subtracted from this total.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            usage: self.usage.with(before.usage, u64::saturating_sub),
            cost: self.cost.minus(before.cost),
            unmeasured: self.unmeasured.saturating_sub(before.unmeasured),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
            lost: self.lost.saturating_sub(before.lost),
        }
    }
}

impl fmt::Display for TotalUsage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usage, unmeasured, unpriced, lost, .. } = self;
        write!(formatter, "{usage}")?;
        if let Some(cost) = self.known_cost() {
            write!(formatter, ", {cost}")?;
        }
        if *unmeasured > 0 || *unpriced > 0 {
            write!(
                formatter,
                "; of {unmeasured} answers the tokens and of {unpriced} the cost are not known"
            )?;
        }
        if *lost > 0 {
            write!(formatter, "; {lost} requests broke off that may have cost something")?;
        }
        Ok(())
    }
}

/// The spending of each user's runs, over all agents that share these accounts. Clones share the same accounts, which
/// are lost when the process ends. The spending of one run is in its [`State`](crate::State).
///
/// ```
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Accounts, Agent, ModelAnswer, ScriptedModel, Usage};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let accounts = Accounts::new();
/// let model = ScriptedModel::new().answers(ModelAnswer::text("Hello.").usage(Usage::new(12, 3)));
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let agent = Agent::on(executor, model).accounts(accounts.clone()).build()?;
/// agent.new_run("greetings").user("ada").start()?.send("Good morning!").await?;
/// assert_eq!(accounts.of(Some("ada")).usage.total(), 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Accounts(Arc<Mutex<ByUser>>);

type ByUser = BTreeMap<Option<String>, TotalUsage>;

impl Accounts {
    /// Makes empty accounts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the spending of a user's runs; `None` means the runs without a user.
    #[must_use]
    pub fn of(&self, user: Option<&str>) -> TotalUsage {
        self.lock().get(&user.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// Returns the spending of all users' runs.
    #[must_use]
    pub fn total(&self) -> TotalUsage {
        self.lock().values().fold(TotalUsage::default(), |sum, spent| sum.plus(*spent))
    }

    /// Lists each user with the spending of their runs; `None` means runs without a user.
    #[must_use]
    pub fn all(&self) -> Vec<(Option<String>, TotalUsage)> {
        self.lock().iter().map(|(user, spent)| (user.clone(), *spent)).collect()
    }

    /// Adds the spending of a run of this user. Only a driver of your own needs this method, since an
    /// [`AgentRun`](crate::AgentRun) adds its spending itself.
    pub fn add(&self, user: Option<&str>, spent: TotalUsage) {
        let mut accounts = self.lock();
        let sum = accounts.entry(user.map(str::to_owned)).or_default();
        *sum = sum.plus(spent);
    }

    fn lock(&self) -> MutexGuard<'_, ByUser> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
