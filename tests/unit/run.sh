#!/bin/sh
# Run a unit test. cmocka 1.1 reports a skipped test as "not ok N # SKIP", which TAP readers
# count as failed; say "ok" as TAP wants it. The status stays the test's own.
exec 4>&1
status=$({ { "$@"; echo $? >&3; } | sed 's/^not ok \(.*# SKIP\)/ok \1/' >&4; } 3>&1)
exit "$status"
