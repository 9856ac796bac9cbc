#!/bin/sh
# Run each fuzz target for FUZZ_SECONDS (10): smoke.sh TARGET...
# Those that read models and tokenizers start from what ./seeds writes and, where it is
# there, ../shared/bad-files; fuzz-jinja from the templates of tests/vectors and, where they
# are there, ../shared/templates; a target with a NAME.dict takes words from that. What one
# finds interesting stays in NAME.corpus beside it and is used again; a finding stays as
# NAME.crash-... and ends the run with its status.
set -eu

# Freed memory is kept for a while by the sanitizer; little of it keeps the limit meaningful.
export ASAN_OPTIONS="quarantine_size_mb=32:${ASAN_OPTIONS:-}"
seconds=${FUZZ_SECONDS:-10}
here=tests/fuzz
shared=${VT_SHARED:-${top_srcdir:-.}/../shared}

mkdir -p $here/seeds.corpus
$here/seeds $here/seeds.corpus
bad=
[ -d "$shared/bad-files" ] && bad=$shared/bad-files
templates=$here/templates.corpus
mkdir -p $templates
awk '!/^# /{ f = dir "/" NR; gsub("⏎", "\n"); print > f; close(f) }' dir=$templates \
    "${top_srcdir:-.}/tests/vectors/jinja-language.txt"
[ -d "$shared/templates" ] &&
    templates="$templates $shared/templates/jinja $shared/templates/jinja-gguf"

for target; do
    mkdir -p "$target.corpus"
    case $target in
    */fuzz-gguf | */fuzz-hf | */fuzz-model | */fuzz-tiktoken | */fuzz-tokenizer)
        from="$here/seeds.corpus $bad"
        ;;
    */fuzz-jinja) from=$templates ;;
    */fuzz-parse) from=${top_srcdir:-.}/tests/vectors/parse ;;
    *) from= ;;
    esac
    dict=${top_srcdir:-.}/$here/${target##*/fuzz-}.dict
    echo "$target: $seconds s"
    # shellcheck disable=SC2046,SC2086
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=200 \
        -max_len=131072 -print_final_stats=1 -verbosity=0 -artifact_prefix="$target." \
        $([ -e "$dict" ] && echo "-dict=$dict") "$target.corpus" $from
done
