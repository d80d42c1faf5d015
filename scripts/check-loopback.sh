#!/usr/bin/env bash
# Runs tests in a network namespace that has nothing but loopback: a server and its tests need no network. Arguments are
# those of npm test: without any, all tests but the long ones. .ci/run runs all tests so where a namespace can be made. Needs unshare
# (util-linux), ip (iproute2) and the right to make a namespace.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1-}" in
  -h | --help)
    echo 'Runs tests in a network namespace with loopback only. Takes the arguments of npm test.'
    echo
    echo 'Usage: npm run check:loopback -- [TEXT ...] [--long]'
    exit 0 ;;
esac
as_root=()
[ "$(id -u)" = 0 ] || as_root=(--map-root-user)
exec unshare --net "${as_root[@]}" sh -c 'ip link set lo up && exec node dist/scripts/test.js "$@"' sh "$@"
