# Every hostile or odd model file of ../shared/bad-files gets the verdict of its manifest:
# reject is status 3 and one sentence, accept is 0, either is one of both; each within two
# seconds and 200 MiB, also under sanitizers.

load cli

# 0: the verdict is kept. Says what is wrong otherwise.
judge()
{
    local file=$1 expect=$2 status=0
    "$look" limits 2 200 "$VITRINE" ask --no-chat -n 2 -m "$shared/bad-files/$file" hi \
        > out 2> err || status=$?
    case $expect:$status in
    accept:0 | either:0 | reject:3 | either:3) ;;
    *)
        echo "$file: $expect, but status $status: $(head -c 300 err)"
        return 1
        ;;
    esac
    if grep -q $'[\x01-\x08\x0b-\x1f\x7f]' err; then
        echo "$file: raw control bytes on stderr"
        return 1
    fi
    [ $status -eq 0 ] && return 0
    if [ "$(wc -l < err)" -ne 1 ] || ! grep -qF "$file" err; then
        echo "$file: not one line that names the file: $(cat err)"
        return 1
    fi
    [ ! -s out ] || { echo "$file: refused, but printed something"; return 1; }
}

@test "every file gets its verdict" {
    need_shared bad-files/manifest.json
    "$look" get "*.file" < "$shared/bad-files/manifest.json" > files
    "$look" get "*.expect" < "$shared/bad-files/manifest.json" > verdicts
    failed=0
    judged=0
    while read -r file expect; do
        case $file in
        st-* | dir-* | *.safetensors) continue ;;
        esac
        judge "$file" "$expect" || failed=$((failed + 1))
        judged=$((judged + 1))
    done < <(paste files verdicts)
    echo "$judged judged, $failed failed"
    [ $judged -gt 60 ]
    [ $failed -eq 0 ]
}

@test "what is no model is named for what it is" {
    printf '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03' > model.gguf.gz
    printf '<!DOCTYPE html>\n<html><body>Not found</body></html>\n' > page.gguf
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 123\n' > lfs.gguf
    printf 'PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaaaa' > archive.gguf
    : > empty.gguf
    mkdir dir.gguf
    for pair in model.gguf.gz:gzip page.gguf:HTML lfs.gguf:LFS archive.gguf:zip empty.gguf:empty \
        dir.gguf:directory; do
        run -3 --separate-stderr v ask -m "${pair%:*}" hello
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *"${pair%:*}"* ]]
        grep -qi "${pair#*:}" <<< "$stderr" || { echo "$stderr"; false; }
    done
}

@test "a file that is no GGUF is refused the same by every command" {
    need_shared bad-files
    for command in "info" "plan" "bench" "tokenize -m" "score --ids 1,2 -m"; do
        # shellcheck disable=SC2086
        run -3 --separate-stderr v $command "$shared/bad-files/bad-magic.gguf" < /dev/null
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
}

@test "info tells what it can of a file that cannot be run, and why" {
    need_shared bad-files
    run -3 --separate-stderr v info "$shared/bad-files/arch-unknown.gguf"
    [[ $output == *"tensors"* && $output == *"metadata"* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $output$stderr != *$'\e'* ]]
    run -3 v info --json "$shared/bad-files/arch-unknown.gguf"
    v info --json "$shared/bad-files/name-escapes.gguf" | "$look" valid
    run -0 v info -v "$shared/bad-files/name-escapes.gguf"
    [[ $output != *$'\e'* ]]
    run -0 v info -v "$shared/bad-files/ok-unknown-kv.gguf"
}
