#!/usr/bin/env bash
# How time and memory of dre compare grow with the rows: row_growth.sh build/release/bin/dre [ROWS...]
# 20 columns a side, made up; prints a Markdown table. GNU time is needed. Processor seconds, not
# those of the clock: other work on the machine hardly moves them.
set -euo pipefail
tool=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows() { # COUNT SHIFT SEED
  awk -v count="$1" -v shift="$2" -v state="$3" '
    function uniform() { state = (16807 * state) % 2147483647; return state / 2147483647 }
    BEGIN {
      for (j = 0; j < 20; j++) printf "x%d%s", j, j < 19 ? "," : "\n"
      for (i = 0; i < count; i++)
        for (j = 0; j < 20; j++) {
          z = uniform() + uniform() + uniform() + uniform() - 2 + (j < 3 ? shift : 0)
          printf "%.5f%s", z, j < 19 ? "," : "\n"
        }
    }'
}
echo "| rows a side | processor seconds | peak MiB |"
echo "|---:|---:|---:|"
for count in "${@:-1000 10000 100000 1000000}"; do
  for n in $count; do
    rows "$n" 0.2 12345 > "$work/a.csv"
    rows "$n" 0 54321 > "$work/b.csv"
    /usr/bin/time -f "%U %S %M" -o "$work/time" "$tool" compare --numerator "$work/a.csv" \
      --denominator "$work/b.csv" --quiet > /dev/null
    awk -v n="$n" '{ printf "| %d | %.1f | %d |\n", n, $1 + $2, $3 / 1024 }' "$work/time"
  done
done
