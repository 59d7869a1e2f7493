//! What answers cost by a list, and which lists are refused.

use super::*;

fn list(models: &str) -> Result<Prices, PricesError> {
    format!("version = 1\ndate = \"2026-11\"\n{models}").parse()
}

#[test]
fn every_kind_of_token_has_its_price() {
    let prices = list(
        "[models.m]\ninput = 3.0\noutput = 15.0\ncached = 0.3\ncache_write = 3.75\nlong_cache_write = 6.0\nabove = { tokens = 200000, input = 6.0, output = 22.5 }",
    );
    let price = prices.unwrap().of("m").unwrap();
    let million = 1_000_000;
    for (usage, cents) in [
        (Usage::new(100_000, 0), 30),
        (Usage::new(0, million), 1500),
        (Usage::new(100_000, 0).cached(100_000), 3),
        (Usage::new(100_000, 0).cached(50_000).cache_write(40_000), 19),
        (Usage::new(100_000, 0).cached(50_000).cache_write(40_000).long_cache_write(20_000), 24),
        (Usage::new(200_000, 10_000), 60 + 15),
        // All tokens of a long request cost more.
        (Usage::new(300_000, 10_000), 180 + 22),
        (Usage::new(300_000, 0).cached(300_000), 180),
    ] {
        let cost = price.cost(usage).in_picos() / Cost::cents(1).in_picos();
        assert_eq!(cost, cents, "{usage:?}");
    }
    // What a provider reports that cannot be is no cost below nothing.
    assert_eq!(price.cost(Usage::new(0, 0).cached(million)), Cost::cents(30));
    assert_eq!(price.cost(Usage::new(u64::MAX, u64::MAX)), Cost::picos(u64::MAX));
}

#[test]
fn a_model_with_a_date_has_the_price_of_its_name_and_no_other_has() {
    let prices = list("[models.m-4]\ninput = 1\noutput = 1\n[models.m-4-5]\ninput = 2\noutput = 2");
    let prices = prices.unwrap();
    let input = |model: &str| prices.of(model).map(|it| it.rates.input);
    for (model, cents) in [
        ("m-4", Some(100)),
        ("m-4-20251201", Some(100)),
        ("m-4-5", Some(200)),
        ("m-4-5-2025-12-01", Some(200)),
        ("models/m-4-5", Some(200)),
        ("m-4-6", None),
        ("m-4-pro", None),
        ("m", None),
    ] {
        assert_eq!(input(model), cents.map(Cost::cents), "{model}");
    }
}

#[test]
fn the_list_of_this_release_has_a_date_and_prices_that_can_be() {
    let prices = Prices::standard();
    assert!(prices.date().starts_with("20"), "{}", prices.date());
    for (model, price) in &prices.0.models {
        let Rates { input, output, cached, .. } = price.rates;
        assert!(cached < input && input < output && output < Cost::cents(10_000), "{model}");
        let is_longer = price.rates.long_cache_write > price.rates.cache_write;
        assert_eq!(is_longer, model.starts_with("claude"), "an hour of Anthropic costs more");
        assert!(price.above.is_none_or(|(_, it)| it.input > input), "{model}");
    }
    for model in ["claude-sonnet-4-6", "gpt-5.2", "gemini-2.5-pro"] {
        assert!(prices.of(model).is_some(), "{model}");
    }
    assert!(Prices::none().of("gpt-5.2").is_none());
}

#[test]
fn a_list_that_is_wrong_is_refused_by_name() {
    let wrong = |models: &str| list(models).unwrap_err().to_string();
    assert!(wrong("[models.m]\ninput = -1\noutput = 1").contains("found the price -1 of `m`"));
    assert!(wrong("[models.m]\ninput = nan\noutput = 1").contains("found the price NaN of `m`"));
    assert_eq!(wrong("[models.m]\ninput = 1"), "the price list is not in its format");
    let newer = "version = 2\ndate = \"2026-11\"".parse::<Prices>().unwrap_err();
    assert!(newer.to_string().starts_with("found version 2 of the price list's format"), "{newer}");
}

#[test]
fn a_list_may_name_the_windows_of_its_models() {
    let prices =
        list("[models.m]\ninput = 1\noutput = 1\nwindow = 1000\n[models.n]\ninput = 1\noutput = 1");
    let prices =
        prices.unwrap().with("o", Price::new(Rates::new(Cost::cents(1), Cost::cents(1))).window(7));
    let window = |model: &str| prices.of(model).and_then(|it| it.window);
    assert_eq!(["m-2026-01-01", "n", "o"].map(window), [Some(1_000), None, Some(7)]);
    assert!(list("[models.m]\ninput = 1\noutput = 1\nwindow = -1").is_err());
}
