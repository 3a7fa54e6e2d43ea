#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds the CUDA engine for this GPU and for all architectures of the wheels, measures
# both engines, runs the tests that need a GPU, checks small cases with compute-sanitizer, and writes a JSON report. An
# interrupted run reports what it has.
#   tests/gpu/run.sh REPORT.json
# BUILD=DIR uses the programs of an existing build instead, COMMIT=NAME names its commit.
# Wheels for all supported GPUs:
#   pip wheel . -C cmake.define.CMAKE_CUDA_ARCHITECTURES="80-real;90-real;90-virtual"
# GTEST_SOURCE=DIR names googletest's sources if the library is not installed.
set -euo pipefail
report=${1:?usage: tests/gpu/run.sh REPORT.json}
cd "$(dirname "$0")/../.."
command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q GPU || { echo "tests/gpu/run.sh: no NVIDIA GPU found (nvidia-smi -L)." >&2; exit 2; }
command -v nvcc >/dev/null || { echo "tests/gpu/run.sh: nvcc is not on the PATH." >&2; exit 2; }
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
all="80-real;90-real;90-virtual"
[[ "$all" == *"$arch-real"* ]] || all="$arch-real;$all"
build=${BUILD:-build/gpu}
extra=()
[ -n "${GTEST_SOURCE:-}" ] && extra+=("-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=$GTEST_SOURCE")
if [ -z "${BUILD:-}" ]; then
  cmake -S . -B "$build" -DFLITLAB_TESTS=ON -DFLITLAB_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$all" "${extra[@]}" >/dev/null
  cmake --build "$build" --parallel "$(nproc)" --target flitlab_tests flitlab_gpu_report >/dev/null
fi
tests=interrupted sanitizer=interrupted states=interrupted
rows=$(mktemp)
write_report() {
  cat > "$report" <<JSON
{"device": "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)",
 "date": "$(date -u +%Y-%m-%d)",
 "commit": "${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}",
 "tests": "$tests", "sanitizer": "$sanitizer", "states": "$states",
 "unit": "router-cycles/s",
 "rates": [
$(grep '}' "$rows" | sed '$ s/,$//')
 ]}
JSON
}
trap write_report EXIT
trap 'exit 1' INT TERM
"$build/flitlab_gpu_report" > "$rows" && states=equal || states=different
"$build/flitlab_tests" --gtest_filter='*Gpu*' && tests=passed || tests=failed
if command -v compute-sanitizer >/dev/null; then
  result=clean
  for tool in memcheck racecheck initcheck synccheck; do
    for filter in '*AuditsFindTheSameFault*' 'GpuSmall.*' 'GpuLanes.AuditsCheckTheCurrentState'; do
      # In lane state, heads read an output VC's owner while the winner writes it; no reader depends on the new value.
      [ $tool = racecheck ] && [ "${filter%%.*}" = GpuLanes ] && continue
      "$build/flitlab_tests" --gtest_list_tests --gtest_filter="$filter" | grep -q '^  ' ||
        { echo "tests/gpu/run.sh: no test is called $filter." >&2; exit 2; }
      compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/flitlab_tests" --gtest_filter="$filter" ||
        result="$tool failed"
    done
  done
  sanitizer=$result
else
  sanitizer=absent
fi
write_report
cat "$report"
[ "$tests" = passed ] && [ "$states" = equal ] && [ "${sanitizer#*failed}" = "$sanitizer" ]
