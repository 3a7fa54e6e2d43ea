"""Prints docs/booksim.md: what becomes of BookSim's parameters.

    python tests/tools/booksim_page.py > docs/booksim.md
"""

from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.keys import KEYS

TEXT = """\
# Files of BookSim 2

flitlab reads configurations of BookSim 2 (commit 28f4329) as they are:

    flitlab run mesh88_lat
    flitlab sweep torus88 --over traffic.load=0.05:0.5:0.05 --out out/torus88
    flitlab inspect fattree_config
    flitlab import mesh88_lat injection_rate=0.004 -o mesh.toml

```python
import flitlab as fl

experiment = fl.load("path/to/mesh88_lat")
```

`flitlab import` writes a configuration of flitlab, with comments on what differs. Statements before `-o`
(`injection_rate=0.004`) override those of the file. In the other commands use `--set`, with flitlab's names of
parameters (`--set traffic.load=0.08`).

A file is BookSim's if it is not TOML and sets a parameter of the [list](#parameters) in statements `NAME = VALUE;`.
As in BookSim, unknown names and literals of the wrong type are errors (`internal_speedup = 2;` must be `2.0`). A value
that flitlab cannot express is an error that names the reason; nothing is left out silently.

The network is BookSim's, and the random numbers are not, so results agree within their confidence intervals
([measured](benchmarks.md#files-of-booksim)), except for these differences:

- A flit of a terminal in BookSim reaches route computation one cycle later, so latencies are one cycle shorter in
  flitlab. Without load they are otherwise equal to the cycle (`tests/bindings/booksim/latency.csv`).
- With `st_final_delay` or `st_prepare_delay` raised by d cycles, a packet of several flits takes up to d cycles more in
  BookSim.
- Adaptive routing (`min_adapt`) is another algorithm under load: BookSim's packets request all shortest ports and take
  what the allocator gives; flitlab's take the port with the most credits. On a 4x4 mesh under transpose traffic at
  0.3, the mean latency is 38.4 cycles in BookSim and 19.1 in flitlab (`compare_booksim.py --only differences`).

Not read: the files of GPGPU-Sim and ONNXim (`.icnt`), which have parameters of their own.

## Topologies

| `topology` | `routing_function` | in flitlab |
|---|---|---|
| `mesh` | `dor`, `dim_order`, `xy_yx`, `romm`, `valiant`, `min_adapt` | a mesh with `dimension_order`, `o1turn`, \
`romm`, `valiant`, `minimal_adaptive` |
| `torus` | `dim_order`, `dim_order_bal`, `valiant`, `min_adapt` | a torus; virtual channels are assigned \
`by_crossing`, with `dim_order_bal` `balanced` |
| `fly` | `dest_tag` | with n = 1 a single router of k terminals; several stages are refused |
| `fattree` | `nca`, `anca` | a fat tree of n levels with `nearest_common_ancestor`, `adaptive` |
| `flatfly` | `ran_min`, `ugal` | with `use_noc_latency = 0` a flattened butterfly with `minimal` (one \
shortest route for each pair of routers, where `ran_min` draws the order of dimensions), `ugal_l` \
(threshold 2). Its `valiant` is refused: packets stop early when they pass their destination |
| `anynet` | `min` | a graph with `table`: shortest routes by hops, with layers of virtual channels against deadlock. \
BookSim's shortest routes are by latency, and can deadlock |
| `dragonflynew` | `min` | a dragonfly of 2k² + 1 groups of 2k routers with `minimal`; channels take 10 cycles within \
a group and 100 between groups, whatever `use_noc_latency` is. Its `ugal` is refused: it compares queues \
by another rule |
| `cmesh`, `qtree`, `tree4` | | refused |

## Parameters

- exact: flitlab has the same.
- equivalent: the same purpose, with the difference that is named.
- ignored: it changes neither the network nor its traffic.
- refused: only the default is accepted.
"""


def page() -> str:
    rows = [f"| `{name}` | {' or '.join(f'`{d}`' for d in DEFAULTS[name] if d != '') or 'empty'} | {fate.kind} "
            f"| {fate.note} |" for name, fate in sorted(KEYS.items())]
    return "\n".join([TEXT, "| parameter | default | | in flitlab |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    print(page(), end="")
