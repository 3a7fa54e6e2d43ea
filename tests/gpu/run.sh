#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the CUDA engine for this GPU and for all architectures of the wheels, measures
# both engines, runs the tests that need a GPU, checks small cases with compute-sanitizer, and writes a JSON report.
#   tests/gpu/run.sh REPORT.json
# The measurements and tests take at most TIME seconds (default 350), divided among parts. A part that takes longer is
# interrupted, and the report says so. SIGINT and SIGTERM interrupt all parts; the report then has all rows that are
# complete. While the script runs, and after SIGKILL, the outputs of the parts are in the folder REPORT.json.parts;
# after that they are in the file REPORT.json.log.
# BUILD=DIR uses the programs of an existing build instead, COMMIT=NAME names its commit.
# FLITLAB=PATH is the command whose `bench --sweep` is measured (default: flitlab, if it is installed).
# Wheels for all supported GPUs:
#   pip wheel . -C cmake.define.CMAKE_CUDA_ARCHITECTURES="80-real;90-real;90-virtual"
# GTEST_SOURCE=DIR names googletest's sources if the library is not installed.
set -euo pipefail
report=${1:?usage: tests/gpu/run.sh REPORT.json}
report=$(realpath "$report")
time=${TIME:-350}
cd "$(dirname "$0")/../.."
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L | grep GPU >/dev/null; then
  echo "tests/gpu/run.sh: no NVIDIA GPU found (nvidia-smi -L)." >&2
  exit 2
fi
build=${BUILD:-build/gpu}
if [ -z "${BUILD:-}" ]; then
  command -v nvcc >/dev/null || { echo "tests/gpu/run.sh: nvcc is not on the PATH." >&2; exit 2; }
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  all="80-real;90-real;90-virtual"
  [[ "$all" == *"$arch-real"* ]] || all="$arch-real;$all"
  extra=()
  [ -n "${GTEST_SOURCE:-}" ] && extra+=("-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=$GTEST_SOURCE")
  cmake -S . -B "$build" -DFLITLAB_TESTS=ON -DFLITLAB_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$all" "${extra[@]}" >/dev/null
  cmake --build "$build" --parallel "$(nproc)" --target flitlab_tests flitlab_gpu_report >/dev/null
fi

device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
commit=${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
flitlab=$(command -v "${FLITLAB:-flitlab}" || true)
sanitizer=$(command -v compute-sanitizer || true)
folder=$report.parts
rm -rf "$folder"
mkdir "$folder"
parts=()                               # in the order of their starts
declare -A process limit started state # by part

# start PART SECONDS COMMAND...: starts a part in the background, so that signals interrupt the script at once. SECONDS
# are for the default TIME.
start() {
  local part=$1
  limit[$part]=$(($2 * time / 350 + 1))
  shift 2
  parts+=("$part")
  state[$part]=interrupted
  started[$part]=$SECONDS
  timeout --kill-after=5 "${limit[$part]}" "$@" >"$folder/$part.out" 2>"$folder/$part.err" &
  process[$part]=$!
}

# finish PART...: waits for parts and notes how they ended.
finish() {
  local part status
  for part in "$@"; do
    status=0
    wait "${process[$part]}" || status=$?
    case $status in
      0) state[$part]=passed ;;
      124 | 137) state[$part]="interrupted after ${limit[$part]} s" ;;
      *) state[$part]=failed ;;
    esac
    echo "$part: ${state[$part]}, $((SECONDS - started[$part])) s"
    [ "${state[$part]}" = passed ] || tail -n 20 "$folder/$part.out" "$folder/$part.err" >&2
    write_report
  done
}

# all_of KIND: "passed", or the states of the parts KIND-* that did not pass.
all_of() {
  local part found="" result=""
  for part in "${parts[@]}"; do
    [[ $part == $1-* ]] || continue
    found=passed
    [ "${state[$part]}" = passed ] || result+="${result:+, }${part#*-} ${state[$part]}"
  done
  result=${result:-$found}
  echo "${result:-not run}"
}

# The complete rows so far, as lines of a JSON list.
rows() {
  local part
  for part in "${parts[@]}"; do
    [[ $part != rates-* ]] || grep -so '{.*}' "$folder/$part.out" || true  # the last line of a file may have no end
  done | sed 's/^/  /; $!s/$/,/'
}

write_report() {
  local states="not compared" part comma=""
  [ -z "$(rows | grep '"equal": true')" ] || states=equal
  [ -z "$(rows | grep '"equal": false')" ] || states=different
  {
    echo "{\"device\": \"$device\","
    echo " \"date\": \"$(date -u +%Y-%m-%d)\","
    echo " \"commit\": \"$commit\","
    echo " \"tests\": \"$(all_of tests)\","
    echo " \"sanitizer\": \"$([ -n "$sanitizer" ] && all_of sanitizer || echo absent)\","
    echo " \"states\": \"$states\","
    printf ' "parts": {'
    for part in "${parts[@]}"; do printf '%s"%s": "%s"' "$comma" "$part" "${state[$part]}" && comma=", "; done
    echo "},"
    echo " \"bench\": $(grep '^\[.*\]$' "$folder/bench.out" 2>/dev/null || echo '[]'),"
    echo " \"unit\": \"router-cycles/s\","
    echo " \"rates\": ["
    rows
    echo " ]}"
  } >"$report.new"
  mv "$report.new" "$report"
}

# Moves the outputs of the parts into one file.
keep_log() {
  tail -n +1 "$folder"/* >"$report.log"
  rm -rf "$folder"
}

interrupt() {
  trap '' INT TERM
  local process
  for process in $(jobs -p); do  # `timeout` and, if it ends while it starts its command, the rest of its group
    kill -- "$process" "-$process" 2>/dev/null || true
  done
  wait
  write_report
  keep_log
  echo "tests/gpu/run.sh: interrupted; $report has the rows that are complete." >&2
  exit 1
}
trap interrupt INT TERM

# Rates are measured while nothing else runs, tests and sanitizers side by side.
for group in lanes:40 model:115 scale:50 runs:55; do
  start "rates-${group%:*}" "${group#*:}" "$build/flitlab_gpu_report" "${group%:*}"
  finish "rates-${group%:*}"
done
if [ -n "$flitlab" ]; then
  start bench 12 "$flitlab" bench vc-mesh-8x8 --sweep 64 --json
  finish bench
fi
checks=()
for shard in 0 1 2 3; do
  start "tests-$shard" 75 env GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=$shard \
    "$build/flitlab_tests" --gtest_filter='*Gpu*'
  checks+=("tests-$shard")
done
audits='*AuditsFindTheSameFault*' small='GpuSmall.*' lanes=GpuLanes.AuditsCheckTheCurrentState
for filter in "$audits" "$small" "$lanes"; do
  "$build/flitlab_tests" --gtest_list_tests --gtest_filter="$filter" | grep '^  ' >/dev/null ||
    { echo "tests/gpu/run.sh: no test is called $filter." >&2; interrupt; }
done
for tool in ${sanitizer:+memcheck racecheck initcheck synccheck}; do
  filter=$audits:$small
  # In lane state, heads read an output VC's owner while the winner writes it; no reader depends on the new value.
  [ "$tool" = racecheck ] || filter+=:$lanes
  start "sanitizer-$tool" 75 "$sanitizer" --tool "$tool" --error-exitcode 1 \
    "$build/flitlab_tests" --gtest_filter="$filter"
  checks+=("sanitizer-$tool")
done
finish "${checks[@]}"
keep_log
cat "$report"
for part in "${parts[@]}"; do [ "${state[$part]}" = passed ] || exit 1; done
