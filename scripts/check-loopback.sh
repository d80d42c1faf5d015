#!/usr/bin/env bash
# Runs tests in a network namespace that has nothing but loopback: a server and its tests need no network. Arguments are
# parts of paths, as for npm test. Needs unshare (util-linux), ip (iproute2) and the right to make a namespace.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1-}" in
  -h | --help)
    echo 'Runs tests in a network namespace with loopback only; by default those of servers, agents, outgoing'
    echo 'connections, MCP and models.'
    echo
    echo 'Usage: npm run check:loopback -- [PART-OF-A-PATH ...]'
    exit 0 ;;
esac
groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(
  e2e/event-stream e2e/built-in e2e/joined e2e/credentials http/ ws/ net/ rpc/ parts/selftest parts/mcp parts/models
)
as_root=()
[ "$(id -u)" = 0 ] || as_root=(--map-root-user)
exec unshare --net "${as_root[@]}" sh -c 'ip link set lo up && exec node dist/scripts/test.js "$@"' sh "${groups[@]}"
