//! The prices of models' tokens, and the sizes of their windows: data with a date, which applications can extend.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::limits::{Cost, Usage};

/// The version of the format of a price list.
const VERSION: u32 = 1;

/// The prices of models' tokens. Cheap to clone.
///
/// ```
/// use toolwright_agent::{Cost, Price, Prices, Rates, Usage};
///
/// let prices = Prices::standard();
/// let usage = Usage::new(1_000_000, 0);
/// assert_eq!(prices.of("claude-sonnet-4-6").map(|it| it.cost(usage)), Some(Cost::cents(300)));
///
/// // Prices of your own, as text or as values.
/// let own: Prices = r#"
///     version = 1
///     date = "2026-11-23"
///     [models.house-model]
///     input = 0.5
///     output = 1.25
/// "#.parse()?;
/// let lab = Price::new(Rates::new(Cost::cents(10), Cost::cents(20)));
/// let prices = prices.extended(&own).with("lab-model", lab);
/// assert_eq!(prices.of("house-model").map(|it| it.cost(usage)), Some(Cost::cents(50)));
/// assert_eq!(prices.of("lab-model").map(|it| it.cost(usage)), Some(Cost::cents(10)));
/// # Ok::<(), toolwright_agent::PricesError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prices(Arc<List>);

#[derive(Debug, Clone)]
struct List {
    date: String,
    models: BTreeMap<String, Price>,
}

/// The prices of one model's tokens, and the size of its context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// The prices of the model's tokens.
    pub rates: Rates,
    /// The prices of long requests: if a request has more tokens than this number, these rates apply to all tokens of
    /// the request and of its answer.
    pub above: Option<(u64, Rates)>,
    /// The size of the model's context window in tokens, if it is known.
    pub window: Option<u64>,
}

/// The prices of one model, each for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rates {
    /// The price of the tokens of a request.
    pub input: Cost,
    /// The price of the tokens of an answer.
    pub output: Cost,
    /// The price of the tokens of a request that the provider had cached.
    pub cached: Cost,
    /// The price of the tokens of a request that the provider put into its cache.
    pub cache_write: Cost,
    /// The price of the tokens of a request that the provider put into its cache for longer than usual.
    pub long_cache_write: Cost,
}

/// The reason why a price list cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PricesError {
    /// The text is not TOML, or its keys and values are not those of a price list.
    #[error("the price list is not in its format")]
    Format(#[from] toml::de::Error),
    /// The list has another version.
    #[error(
        "found version {found} of the price list's format, expected {VERSION}; read it with a newer version of this library"
    )]
    Version {
        /// The version that was found.
        found: u32,
    },
    /// A price is negative, is not a number, or is above a million dollars.
    #[error(
        "found the price {found} of `{model}`, expected dollars for a million tokens, 0 or more"
    )]
    Price {
        /// The name of the model.
        model: String,
        /// The price that was found.
        found: f64,
    },
}
toolwright::unstable::debug_as_sentence!(PricesError);

impl Prices {
    /// Returns the prices that this release knows.
    #[must_use]
    pub fn standard() -> Self {
        static STANDARD: LazyLock<Prices> = LazyLock::new(|| {
            include_str!("prices.toml").parse().expect("the list of this release is in its format")
        });
        STANDARD.clone()
    }

    /// Returns a list that has no prices.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(List { date: String::new(), models: BTreeMap::new() }))
    }

    /// Returns the date of the prices; for combined lists, the newest date.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.0.date
    }

    /// Adds the prices of another list, which override those of this list.
    #[must_use]
    pub fn extended(mut self, other: &Self) -> Self {
        let list = Arc::make_mut(&mut self.0);
        list.models.extend(other.0.models.iter().map(|(model, price)| (model.clone(), *price)));
        if other.0.date > list.date {
            list.date.clone_from(&other.0.date);
        }
        self
    }

    /// Adds the price of one model, which overrides an earlier price of that model.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        Arc::make_mut(&mut self.0).models.insert(model.into(), price);
        self
    }

    /// Finds the prices of a model by its name, or by the part of the name before a date, such as `gpt-5.2` for
    /// `gpt-5.2-2025-12-11`.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<Price> {
        let model = model.trim_start_matches("models/");
        let models = &self.0.models;
        let undated = || {
            let mut dated = model.match_indices('-').filter(|(at, _)| is_date(&model[at + 1..]));
            dated.find_map(|(at, _)| models.get(&model[..at]))
        };
        models.get(model).or_else(undated).copied()
    }
}

fn is_date(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits == 8 && (text.len() == 8 || (text.len() == 10 && text.matches('-').count() == 2))
}

impl Rates {
    /// Sets the prices of a million tokens of requests and of answers. Cached tokens have the price of requests unless
    /// another price is set.
    #[must_use]
    pub const fn new(input: Cost, output: Cost) -> Self {
        Self { input, output, cached: input, cache_write: input, long_cache_write: input }
    }

    /// Sets the price of a million tokens of requests that the provider had cached.
    #[must_use]
    pub const fn cached(self, cached: Cost) -> Self {
        Self { cached, ..self }
    }

    /// Sets the price of a million tokens of requests that the provider put into its cache, for any duration.
    #[must_use]
    pub const fn cache_write(self, cache_write: Cost) -> Self {
        Self { cache_write, long_cache_write: cache_write, ..self }
    }

    /// Sets the price of a million tokens of requests that the provider put into its cache for longer than usual.
    #[must_use]
    pub const fn long_cache_write(self, long_cache_write: Cost) -> Self {
        Self { long_cache_write, ..self }
    }
}

impl Price {
    /// Makes a price that is the same for requests of every length.
    #[must_use]
    pub const fn new(rates: Rates) -> Self {
        Self { rates, above: None, window: None }
    }

    /// Sets the size of the model's context window, in tokens. An [`Agent`](crate::Agent) without a window of its own
    /// shortens a history that outgrows this window.
    #[must_use]
    pub const fn window(self, tokens: u64) -> Self {
        Self { window: Some(tokens), ..self }
    }

    /// Sets the prices for requests with more tokens than this. They apply to all tokens of such a request and of its
    /// answer.
    #[must_use]
    pub const fn above(self, tokens: u64, rates: Rates) -> Self {
        Self { above: Some((tokens, rates)), ..self }
    }

    /// Computes the maximum cost of a request and its answer with these numbers of tokens, no matter how much of the
    /// request is cached.
    #[must_use]
    pub fn most(&self, input_tokens: u64, output_tokens: u64) -> Cost {
        let dearest = |rates: Rates| {
            let input = rates.input.max(rates.cached).max(rates.cache_write);
            (input.max(rates.long_cache_write), rates.output)
        };
        let (input, output) = dearest(self.rates);
        let long = self.above.filter(|(limit, _)| input_tokens > *limit);
        let (input, output) = match long.map(|(_, rates)| dearest(rates)) {
            Some((dearer, more)) => (input.max(dearer), output.max(more)),
            None => (input, output),
        };
        let price = |tokens: u64, rate: Cost| u128::from(tokens) * u128::from(rate.in_picos());
        let sum = price(input_tokens, input).saturating_add(price(output_tokens, output));
        Cost::picos(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// Computes the cost of an answer with this usage. Fees for tools that the provider ran are not included.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Cost {
        let long = self.above.filter(|(limit, _)| usage.input_tokens > *limit);
        let rates = long.map_or(self.rates, |(_, rates)| rates);
        let special = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
        let long = usage.long_cache_write_tokens.min(usage.cache_write_tokens);
        let parts = [
            (usage.input_tokens.saturating_sub(special), rates.input),
            (usage.cached_tokens, rates.cached),
            (usage.cache_write_tokens.saturating_sub(long), rates.cache_write),
            (long, rates.long_cache_write),
            (usage.output_tokens, rates.output),
        ];
        let price = |(tokens, rate): (u64, Cost)| u128::from(tokens) * u128::from(rate.in_picos());
        let sum = parts.into_iter().map(price).fold(0, u128::saturating_add);
        Cost::picos(u64::try_from(sum / 1_000_000).unwrap_or(u64::MAX))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    version: u32,
    date: String,
    #[serde(default)]
    models: BTreeMap<String, WrittenPrice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    long_cache_write: Option<f64>,
    above: Option<WrittenLong>,
    window: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLong {
    tokens: u64,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    long_cache_write: Option<f64>,
}

impl FromStr for Prices {
    type Err = PricesError;

    fn from_str(text: &str) -> Result<Self, PricesError> {
        let PriceFile { version, date, models } = toml::from_str(text)?;
        if version != VERSION {
            return Err(PricesError::Version { found: version });
        }
        let models = models.into_iter().map(|(model, it)| {
            let price =
                it.price().map_err(|found| PricesError::Price { model: model.clone(), found })?;
            Ok((model, price))
        });
        let models = models.collect::<Result<_, PricesError>>()?;
        Ok(Self(Arc::new(List { date, models })))
    }
}

impl WrittenPrice {
    fn price(&self) -> Result<Price, f64> {
        let cache = [self.cached, self.cache_write, self.long_cache_write];
        let rates = rates(self.input, self.output, cache)?;
        let above = self.above.as_ref().map(|it| -> Result<_, f64> {
            let cache = [it.cached, it.cache_write, it.long_cache_write];
            Ok((it.tokens, self::rates(it.input, it.output, cache)?))
        });
        Ok(Price { rates, above: above.transpose()?, window: self.window })
    }
}

/// Makes rates. If the price of long cache writes is missing, the price of cache writes applies. If another price for
/// cached tokens is missing, the price of input applies.
fn rates(input: f64, output: f64, cache: [Option<f64>; 3]) -> Result<Rates, f64> {
    let [cached, cache_write, long_cache_write] = cache;
    let mut rates = Rates::new(dollars(input)?, dollars(output)?);
    if let Some(price) = cached {
        rates = rates.cached(dollars(price)?);
    }
    if let Some(price) = cache_write {
        rates = rates.cache_write(dollars(price)?);
    }
    if let Some(price) = long_cache_write {
        rates = rates.long_cache_write(dollars(price)?);
    }
    Ok(rates)
}

/// Converts dollars to a cost, rounded to millionths of a dollar.
fn dollars(dollars: f64) -> Result<Cost, f64> {
    let millionths = (dollars * 1e6).round();
    if (0.0..=1e12).contains(&millionths) {
        // Within the bounds that were checked above, the conversion is exact.
        Ok(Cost::picos(millionths as u64 * 1_000_000))
    } else {
        Err(dollars)
    }
}

#[cfg(test)]
mod tests;
