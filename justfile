# What is done often. Each line is an ordinary command: nothing here needs `just`.

# Lists these recipes.
default:
    @just --list --unsorted

# A coding agent repairs a real crate, by a recording of its model's answers.
repair:
    cargo run --bin coder -- run "make the tests pass" --offline

# Every test, the compiler's messages and the examples in the docs included.
test:
    cargo test

# What rustc tells a user who erred; `just ui-accept` takes what it says now as what it should say.
ui:
    cargo test -p ui-tests

ui-accept:
    TRYBUILD=overwrite cargo test -p ui-tests

# Formatting and lints.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The API documentation; `just docs --open` shows it.
docs *options:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude benches --no-deps {{ options }}

# What we send to vendors, against the documents that they publish.
oracles:
    tests/oracles/fetch
    cargo test -p oracles

# What a fuzzer would do, by property: hostile texts and the laws of repair, `just fuzz 1000000` for longer.
fuzz cases="200000":
    PROPTEST_CASES={{ cases }} cargo test --release -p toolwright-runtime --test runtime -- repair::hostile::any_text repair::laws

# What decides is changed, one place at a time, and a test has to notice; needs cargo-mutants. It changes the files
# here and puts them back: commit first. `just mutants --list` only lists.
mutants *options:
    cargo mutants --in-place --file 'runtime/journal/src/journal/next.rs' --test-package toolwright-runtime --cargo-arg=--test=runtime {{ options }}
    cargo mutants --in-place --file 'runtime/executor/src/executor/evaluate.rs' --cargo-arg=--lib {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/journal/src/approval/{covers,grant,granted}.rs' --test-package toolwright-runtime --cargo-arg=--test=runtime {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/executor/src/retry/*.rs' --test-package toolwright-runtime,toolwright-executor --cargo-arg=--lib --cargo-arg=--test=runtime {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/policy/src/**/*.rs' --test-package toolwright-runtime,toolwright-policy --cargo-arg=--lib --cargo-arg=--test=runtime {{ options }}

# Measures beside the peers: `just bench call`, `just bench compile`, with `--quick` a rough run.
bench name *options:
    cargo run --release -p benches -- {{ name }} {{ options }}

# Runs what has clocks, processes, sockets and threads again and again beside busy loops, and lists what failed by chance.
flaky rounds="20":
    .ci/flaky {{ rounds }}

# Licences, sources and advisories of the dependencies; needs cargo-deny.
deny:
    cargo deny check

# The gate.
ci:
    .ci/run
