"""Prints docs/booksim.md: what becomes of BookSim's parameters.

    python tests/tools/booksim_page.py > docs/booksim.md
"""

from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.keys import KEYS

TEXT = """\
# BookSim 2: its program and its files

flitlab can take the place of BookSim 2 (commit 28f4329) in two ways: the program `flitlab-booksim` has BookSim's
command line and output, and all of flitlab reads BookSim's files.

## The program flitlab-booksim

Scripts that run BookSim's program can run this one instead:

    flitlab-booksim mesh88_lat injection_rate=0.004 seed=7 print_csv_results=1

It prints what BookSim prints: the same lines in the same order and format, from `BEGIN Configuration File` over a block
for each sample period to `====== Overall Traffic Statistics ======` and `Total run time`. It warms up, decides that a
simulation has converged or is unstable, and drains measured packets by BookSim's rules. The end of the
output of this command:

    Packet latency average = 57.6215 (1 samples)
            minimum = 25 (1 samples)
            maximum = 248 (1 samples)
    ...
    Injected packet size average = 20.032 (1 samples)
    Accepted packet size average = 20 (1 samples)
    Hops average = 6.19437 (1 samples)
    results:0,transpose,0,0.004,25,57.6215,248,...
    Total run time 0.0521427

### What it reads

- Arguments without `=` are files, and arguments with `=` are statements. Later ones win. Words that begin with `-` and
  have no `=` are ignored.
- The network is translated as [below](#topologies), with the same limits.
- Traffic comes from the program itself, so it has all of BookSim's: `on_off` injection with `burst_alpha`, `burst_beta`
  and `burst_r1`, all 15 patterns with their arguments, lengths, rates and patterns by class, `sim_type = batch` with
  `batch_count` and `max_outstanding_requests`, `seed = time`.
- Several `classes` have a source queue each, which take turns at their node, or go by `priority = class`.
- `use_read_write` has its four types of packets, with their sizes, ranges of virtual channels, subnets and
  `write_fraction`. A class with replies takes four of flitlab's eight classes. Where routes divide each range to avoid
  deadlock (on a torus, for example), ranges must be equal or have no virtual channel in common.
- `subnets` are networks side by side, `include_queuing = 0` counts latencies from the front of the source queue. With
  them, and with `use_read_write`, each packet depends on when the one before it left: the program advances cycle by
  cycle and is slower than BookSim in small networks (1.7 instead of 0.4 seconds for a 4x4 mesh). `sim_type = batch`
  with one of these three, or with several classes, is refused.
- These parameters act as in BookSim: `sample_period`, `max_samples`, `warmup_periods`, all thresholds, `sim_count`,
  `measure_stats`, `print_csv_results`, `stats_out`, `pair_stats`.

For the parameters of RapidChiplet see [below](#rapidchiplet).

### Exit codes

| code | |
|---|---|
| 255 | a stable simulation; also a file or a statement that BookSim rejects, with a message on stderr |
| 0 | an unstable simulation, or no file |
| 2 | a configuration that BookSim accepts and flitlab cannot express; the message names the reason |
| 3 | the network has deadlocked, where BookSim would wait without end |

### What differs

- flitlab draws other random numbers, so results agree within their confidence intervals, and runs may need another
  number of sample periods. `perm_seed` gives other permutations.
- Latencies are BookSim's to the cycle without load: flitlab's are shorter by [one cycle](#files), which the program
  adds. For all 11 files, `tests/bindings/booksim/pairs.csv` has the latencies of pairs of nodes.
- Flit latency is exact for packets of one flit. flitlab does not record when each flit of a packet leaves and arrives,
  so the program assumes that flits leave the source in consecutive cycles and arrive at equal intervals.
- Accepted rates count a packet's flits when its tail arrives.
- Numbers of packets and flits (`Slowest packet`, `Remaining flits`) follow the order of creation; in BookSim, the order
  in which packets reach the front of their source queue.
- With `sim_type = throughput`, up to 100 cycles of packets that BookSim would no longer create enter the network while
  it drains.
- Buffers of more than 255 flits are simulated with 255, with a warning on stderr.

### Comparison

On the 11 of its files that BookSim accepts, mean latencies and accepted rates of the two programs agree within their
confidence intervals or 3 % at three loads each ([table](benchmarks.md#the-program-flitlab-booksim)). The same page has
rates past saturation, and random files. flitlab-booksim takes 0.2 to 0.3 s to start. Runs of BookSim of more than 2 s
take about 3 to 17 times as long as flitlab-booksim's, and runs of less than 0.3 s are faster in BookSim.

### RapidChiplet

[RapidChiplet](https://github.com/spcl/rapidchiplet) starts BookSim as `booksim2/src/booksim`, 10 to 20 times for each
design. To use flitlab, replace this program by a link to flitlab-booksim, or by a script that starts it:

    ln -sf "$(command -v flitlab-booksim)" booksim2/src/booksim
    python run_experiment.py -e experiments/evaluation_booksim.json

Do not set `PYTHONDONTWRITEBYTECODE`: without bytecode each start takes longer. RapidChiplet stops a design at
the first text on stderr. So flitlab-booksim prints no warnings there if `mode` is set, and a configuration that flitlab
cannot express ends with its message.
[benchmarks.md](benchmarks.md#rapidchiplet) compares results and time.

RapidChiplet adds these parameters to BookSim:

- `mode = traffic`: packets are measured from the first cycle on.
- `mode = trace` with `trace_file` and `ignore_cycles`: packets with dependencies. A node creates a packet when its
  predecessors have arrived, not before its cycle, and when the packet before it has left the node. `classes`,
  `sim_count` and `subnets` above 1, `use_read_write`, `include_queuing = 0` and `sim_type = batch` are refused.
- `routing_table_type = default` with `routing_table_file`: the routes of the table (RapidChiplet's algorithm `splif`).
- `routing_table_type = extended`: as `default`, if no route depends on the port where packets enter a router. Other
  tables are refused, because flitlab's tables have one port for each router and destination. Most tables of
  RapidChiplet's algorithm `sptmr` are such tables.
- `traffic_file` with `traffic = custom` and `injection_process = custom`: destinations are drawn with the rates of the
  file. A node without rates creates no packets.

As in BookSim, the routes of a table share all virtual channels, so their packets can deadlock at a high load. With
`mode = traffic`, a run that deadlocks ends as unstable.

All routers that have nodes need an equal number of them, and a channel the same latency in both directions, so designs
whose compute, memory and IO chiplets have different numbers of units are refused.

As in BookSim, a trace ends after ten times the last cycle in its file, its output says that it did not converge, and
its rates are numbers of packets with a minus sign. Without contention the output is BookSim's, except for the flit
latency and the time when the last credit is back.

## Files

flitlab reads configurations of BookSim 2 as they are:

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
- A stage of several cycles (`routing_delay` above 1, `st_prepare_delay` + `st_final_delay` above 1) is a pipeline in
  flitlab. In BookSim, flits that reach such a stage wait until all flits in the stage have left it, whatever inputs of
  the router they come from. A packet of several flits therefore takes up to d cycles more in BookSim if the traversal
  of the switch takes d cycles more. Under load both stages make BookSim slower. flitlab-booksim prints a warning.
- With `vc_alloc_delay` or `sw_alloc_delay` above 1, an assertion of BookSim fails if two packets meet in the stage.
- If a route divides the virtual channels (`xy_yx`, `romm`, `valiant`, a torus) and their number is odd, the parts
  overlap in BookSim, where packets can then deadlock.
- `min_adapt` does not adapt to traffic in BookSim: a set of requests (`OutputSet`) keeps only one port for each
  priority, so packets request the first of their shortest ports, the one of dimension-order routing (BookSim's issue
  13 asks whether this function is right). They prefer adaptive virtual channels there, and stay on the escape channel
  after they have taken it. In a torus one virtual channel is adaptive. flitlab does the same (`routing.selection =
  "first"` or `"first_or_escape"`) and prints a note. For adaptive routing, translate the file with `flitlab import` and
  leave out `routing.selection`, `routing.stay_on_escape` and `routing.adaptive_vcs`. On a 4x4 mesh under transpose
  traffic at 0.3, this reduces the mean latency from 36.7 to 19.1 cycles (BookSim: 38.4; `compare_booksim.py --only
  differences`).
- With `min_adapt` in a torus of even size, packets for a router half-way around go in the - direction on adaptive
  channels in BookSim, and draw a direction in flitlab.
- A file with `use_read_write` becomes a closed loop of requests and replies. Lengths of requests and replies are drawn
  independently of each other, and all requests use the first half of the virtual channels, all replies the second one.
  On a 4x4 mesh with 16 virtual channels at 0.1 requests/cycle, network latency and accepted rate are within 1 % of
  BookSim's. flitlab-booksim has the four types with their own ranges.
- All channels from the terminals of a dragonfly have `num_vcs` virtual channels in BookSim, and the others use two of
  them. In flitlab all channels have two. If all packets have one destination, it receives up to 17 % less in flitlab.

Files that end in `.icnt` belong to simulators that contain BookSim: ONNXim (without semicolons) and GPGPU-Sim.
`flitlab import FILE.icnt -o FILE.toml` writes their network, whose packets come from the simulator
([embedding.md](embedding.md)); their traffic has no effect. `flit_size` becomes `traffic.flit_bytes`; the adapter reads
`subnets` and the sizes of buffers between the simulator and the network. Most of these files are one router of 20 to
144 terminals (`topology = fly`, `n = 1`). flitlab's canonical router has at most 64 ports, so a single router
with more than 62 terminals is refused.

## Topologies

| `topology` | `routing_function` | in flitlab |
|---|---|---|
| `mesh` | `dor`, `dim_order`, `xy_yx`, `romm`, `valiant`, `min_adapt` | a mesh with `dimension_order`, `o1turn`, \
`romm`, `valiant`, `minimal_adaptive` |
| `torus` | `dim_order`, `dim_order_bal`, `valiant`, `min_adapt` | a torus; virtual channels are assigned \
`by_crossing`, with `dim_order_bal` by `two_datelines` |
| `fly` | `dest_tag` | with n = 1 a single router of k terminals; several stages are refused |
| `fattree` | `nca`, `anca` | a fat tree of n levels with `nearest_common_ancestor`, or `adaptive` with \
`routing.selection = "two_random"` |
| `flatfly` | `ran_min`, `ugal` | a flattened butterfly with `minimal` (in order of dimensions; `ran_min` draws no \
order in spite of its name), `ugal_l` (threshold 2). `use_noc_latency = 1` needs n = 2, x = y = k and xr up to 3. Its \
`valiant` is refused: packets stop early when they pass their destination |
| `anynet` | `min` | a graph with `table` and BookSim's routes: the path with the least latency; of several, the \
one that BookSim's search finds first. If packets of these routes could wait for one another in a cycle, flitlab takes \
shortest routes by hops, with layers of virtual channels, and prints a warning |
| `dragonflynew` | `min` | a dragonfly of 2k² + 1 groups of 2k routers with `minimal`; channels take 10 cycles within \
a group and 100 between groups, whatever `use_noc_latency` is, and packets use two virtual channels, whatever \
`num_vcs` is. Its `ugal` is refused: it compares queues \
by another rule |
| `cmesh` | `dor_no_express`, `xy_yx_no_express` | a mesh of 4 terminals per router with `dimension_order`, `o1turn` |
| | `dor` | a graph with the express channels at its four edges, and BookSim's routes (`table`). `xy_yx` is refused: \
from k = 6 on its packets circle on express channels |
| `qtree`, `tree4` | | refused |

## Parameters

The table holds for configurations that flitlab reads. [flitlab-booksim](#what-it-reads) uses more of them.

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
