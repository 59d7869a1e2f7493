# Frequent tasks. Each line is an ordinary command: nothing here needs `just`.

# Lists these recipes.
default:
    @just --list --unsorted

# A coding agent repairs a real crate, by a recording of its model's answers.
repair:
    cargo run --bin coder -- run "make the tests pass" --offline

# Every test, the compiler's messages and the examples in the docs included.
test:
    cargo test

# The compiler errors that a user sees; `just ui-accept` accepts the present ones as expected.
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

# Our requests against the schemas that the vendors publish.
oracles:
    tests/oracles/fetch
    cargo test -p oracles

# Property tests as a fuzzer: hostile texts and the laws of repair; `just fuzz 1000000` runs longer.
fuzz cases="200000":
    PROPTEST_CASES={{ cases }} cargo test --release -p toolwright-runtime --test runtime -- repair::hostile::any_text repair::laws

# Mutates the code that decides, one place at a time; a test has to notice. Needs cargo-mutants. It changes the files
# here and puts them back: commit first. `just mutants --list` only lists.
mutants *options:
    cargo mutants --in-place --file 'runtime/journal/src/journal/next.rs' --test-package toolwright-runtime --cargo-arg=--test=runtime {{ options }}
    cargo mutants --in-place --file 'runtime/executor/src/executor/evaluate.rs' --cargo-arg=--lib {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/journal/src/approval/{covers,grant,granted}.rs' --test-package toolwright-runtime --cargo-arg=--test=runtime {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/executor/src/retry/*.rs' --test-package toolwright-runtime,toolwright-executor --cargo-arg=--lib --cargo-arg=--test=runtime {{ options }}
    PROPTEST_MAX_SHRINK_ITERS=0 cargo mutants --in-place --file 'runtime/policy/src/**/*.rs' --test-package toolwright-runtime,toolwright-policy --cargo-arg=--lib --cargo-arg=--test=runtime {{ options }}

# Benchmarks against the peers: `just bench call`, `just bench compile`; `--quick` makes a rough run.
bench name *options:
    cargo run --release -p benches -- {{ name }} {{ options }}

# Runs the suites with clocks, processes, sockets and threads again and again beside busy loops, and lists flaky
# tests.
flaky rounds="20":
    .ci/flaky {{ rounds }}

# Licences, sources and advisories of the dependencies. Needs cargo-deny.
deny:
    cargo deny check

# The gate.
ci:
    .ci/run
