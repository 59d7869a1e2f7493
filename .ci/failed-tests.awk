# Prints a line `TARGET<tab>NAME` for each failed test in the output of `cargo test --no-fail-fast`. TARGET is the
# cargo option that names the test program. NAME is `*` for a program that ended without a list of failures: it
# aborted, or was killed.
/^failures:$/ { listing = 1; count = 0; next }
listing && /^    / { names[++count] = substr($0, 5); next }
listing && !/^$/ { listing = 0 }
/^ +(Running|Doc-tests) / { count = 0 }
/^error: (test|doctest) failed, to rerun pass `/ {
    target = $0
    sub(/^[^`]*`/, "", target); sub(/`.*/, "", target)
    sub(/^-p [^ ]+ ?/, "", target)
    if (count == 0) print target "\t*"
    for (i = 1; i <= count; i++) print target "\t" names[i]
    count = 0
}
