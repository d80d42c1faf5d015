#!/usr/bin/env bash
# Runs the source as it is, without a build, on newer lines of Node that strip types by themselves: the demo, end to end.
# The registry's `node` package brings each line; nothing of this machine is used or changed.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1-}" in
  -h | --help)
    echo 'Runs the demo from the source, without a build, on lines of Node that strip types (24 by default).'
    echo
    echo 'Usage: npm run check:unbuilt -- [LINE ...]'
    exit 0 ;;
esac
for line in "$@"; do
  [[ "$line" =~ ^[0-9.]+$ ]] || { echo "Could not use \"$line\": expected a line of Node such as 24" >&2; exit 2; }
done

lines=("${@:-24}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for line in "${lines[@]}"; do
  mkdir "$folder/$line"
  npm install --silent --no-fund --no-audit --no-save --prefix "$folder/$line" "node@$line" >/dev/null
  node="$folder/$line/node_modules/node/bin/node"
  echo "Node $("$node" --version), unbuilt:"
  mkdir "$folder/checkout-$line"
  cp -r package.json src scripts "$folder/checkout-$line"
  "$node" "$folder/checkout-$line/scripts/start.mjs" --version
  "$node" scripts/demo.ts >"$folder/demo.txt" || { cat "$folder/demo.txt"; exit 1; }
  tail -n 12 "$folder/demo.txt"
done
