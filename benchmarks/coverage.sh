#!/usr/bin/env bash
# The coverage study of results/coverage.md, on all processors:
#
#     benchmarks/coverage.sh build/release/bin/coverage [SEEDS [FOLDER]]
#
# Each process has one thread and five seeds. The Markdown table goes to standard output, the lines
# of the seeds to FOLDER, where a second call goes on after an interruption; standard error tells
# what each seed took. 100 seeds take about 190 minutes of a Neoverse core.
set -euo pipefail
export tool=$1
seeds=${2:-100}
export folder=${3:-coverage-lines}
mkdir -p "$folder"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
each=5

jobs_of() { # PAIR SEEDS [FLAG...]
  for ((first = 0; first < $2; first += each)); do
    echo "$1" "$first" "$(($2 - first < each ? $2 - first : each))" "${@:3}"
  done
}

run() { # PAIR FIRST COUNT [FLAG...]
  local to=$folder/$1.$2.$3
  [ -e "$to.jsonl" ] && return
  "$tool" --pairs "$1" --first-seed "$2" --seeds "$3" "${@:4}" > "$to.part" &&
    mv "$to.part" "$to.jsonl"
}
export -f run

# The longest come first, so that no process is left alone at the end.
{
  jobs_of mi-spiral-3 $(((seeds + 4) / 5))
  jobs_of mi-student-tails-2 $(((seeds + 4) / 5))
  for pair in levels-1 levels-3 levels-3-ways counts-2 levels-and-numbers-7; do
    jobs_of $pair $(((seeds + 4) / 5))
  done
  jobs_of mixture-2 "$seeds"
  jobs_of mi-gaussian-5 "$seeds"
  jobs_of mi-gaussian-1 "$seeds"
  jobs_of scale-10 "$seeds"
  jobs_of mild-shift-30 "$seeds"
  # p-values need no good model: few rows, few steps
  jobs_of null-mixture-10 "$seeds" --rows 300 --steps 200
  jobs_of null-gaussian-10 "$seeds" --rows 300 --steps 200
  jobs_of null-levels-3 $(((seeds + 4) / 5)) --rows 300 --steps 200
} | xargs -P "$(nproc)" -L 1 bash -c 'run "$@"' run

"$tool" --merge "$folder"/*.jsonl
