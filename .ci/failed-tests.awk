# Prints a line `TARGET<tab>NAME` for each test that failed in what `cargo test --no-fail-fast` printed. TARGET is how cargo
# names the program after its tests. NAME is `*` for a program that ended without a list of failures: it aborted, or was killed.
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
