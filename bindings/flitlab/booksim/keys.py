"""What becomes of each of BookSim's 121 parameters; docs/booksim.md is made from this table.

exact: flitlab has the same; equivalent: the same purpose, with a difference that the note states; ignored: it does not
change the network or its traffic; refused: only the default value is accepted, and the note says why or what to use.
"""

from __future__ import annotations

from typing import NamedTuple

EXACT, EQUIVALENT, IGNORED, REFUSED = "exact", "equivalent", "ignored", "refused"


class Fate(NamedTuple):
    kind: str
    note: str


_PRINTED = Fate(IGNORED, "changes what is printed or written, not the network")
_ENDS = Fate(IGNORED, "decides when BookSim stops; flitlab measures for a fixed time")
_LENGTH = Fate(EQUIVALENT, "with `use_read_write`: `traffic.packet_flits`, `traffic.reply_flits`")
_RANGE = Fate(EQUIVALENT, "with `use_read_write`: requests have the first half of the virtual channels and replies the "
              "second one, or all share them (`traffic.message_classes`); other ranges are refused. In `.icnt` files "
              "packets have classes with these ranges (`traffic.class_first_vc`)")
_SUBNET = Fate(IGNORED, "has an effect only with `subnets`, which is refused")
_POLICY = Fate(IGNORED, "has an effect only with other buffer policies, which are refused")
_WATCH = Fate(IGNORED, "`flitlab trace` writes all events of chosen routers")
_POWER = Fate(IGNORED, "of the model of power, which flitlab does not have")
_PLACES = Fate(EXACT, "with `flatfly` and `cmesh`: must fit `topology.shape` and `topology.concentration`, and "
                      "places the nodes")
_SPECULATES = Fate(REFUSED, "flitlab's speculation is BookSim's with the default")
_BURST = Fate(REFUSED, "set `traffic.injection = \"on_off\"`, `traffic.burst_load` and `traffic.burst_cycles`")
_PRIORITY = Fate(REFUSED, "flitlab has no such variant of VC allocation")

KEYS: dict[str, Fate] = {
    "acc_stopping_thres": _ENDS, "acc_warmup_thres": _ENDS,
    "alloc_iters": Fate(IGNORED, "BookSim ignores it, too; an allocator has its iterations as an argument, "
                        "`sw_allocator = islip(2)`"),
    "arb_type": Fate(IGNORED, "BookSim ignores it, too; an allocator has its arbiter as an argument, "
                     "`sw_allocator = separable_input_first(matrix)`"),
    "batch_count": Fate(REFUSED, "flitlab's batch mode has one batch; sweep over `run.seed` to repeat it"),
    "batch_size": Fate(EXACT, "`traffic.batch_packets`, with `sim_type = batch`"),
    "buf_size": Fate(EXACT, "if above 0, `router.buffer_flits` is this number divided by `num_vcs`"),
    "buffer_policy": Fate(REFUSED, "flitlab's canonical router has no buffers that virtual channels share"),
    "burst_alpha": _BURST, "burst_beta": _BURST, "burst_r1": _BURST,
    "c": Fate(EXACT, "`topology.concentration`, with `topology = flatfly` or `cmesh`"),
    "channel_file": Fate(REFUSED, "flitlab has no lengths of wires"),
    "channel_sweep": _POWER, "channel_width": _POWER,
    "class_priority": Fate(EXACT, "`traffic.class_priority`, with `priority = class`"),
    "classes": Fate(EQUIVALENT, "`traffic.classes`, up to 8; classes share the virtual channels"),
    "credit_delay": Fate(EQUIVALENT, "`router.credit_delay` is larger by 1 + `sw_alloc_delay`: it counts from the "
                         "switch to the sender. Credits to terminals do not take it; their delay is "
                         "`router.injection_credit_delay`"),
    "deadlock_warn_timeout": Fate(IGNORED, "flitlab searches for deadlock itself (`run.watchdog_cycles`)"),
    "fail_seed": Fate(REFUSED, "set `topology.failure_seed` in flitlab"),
    "feedback_aging_scale": _POLICY, "feedback_offset": _POLICY,
    "hold_switch_for_packet": Fate(EXACT, "`router.hold_switch_for_packet`"),
    "in_ports": Fate(IGNORED, "of single routers, which no topology uses"),
    "include_queuing": Fate(IGNORED, "flitlab reports the latency with and without the source queue"),
    "injection_process": Fate(EXACT, "`traffic.injection`: `bernoulli`; for `on_off` see burst_alpha"),
    "injection_rate": Fate(EXACT, "`traffic.load`, which is in flits: multiplied by the mean of `packet_size`"),
    "injection_rate_uses_flits": Fate(EXACT, "`traffic.load`, not multiplied"),
    "input_speedup": Fate(EXACT, "`router.input_speedup`"),
    "internal_speedup": Fate(EXACT, "`router.internal_speedup`"),
    "k": Fate(EXACT, "`topology.shape`, `topology.concentration`, `topology.children`"),
    "latency_thres": _ENDS,
    "link_failures": Fate(REFUSED, "set `topology.random_failures` in flitlab"),
    "max_held_slots": _POLICY,
    "max_outstanding_requests": Fate(REFUSED, "batches have no such limit; requests and replies have `traffic.window`"),
    "max_samples": Fate(EQUIVALENT, "with `sample_period` and `warmup_periods` the longest time that BookSim measures, "
                        "`run.measure_cycles`"),
    "measure_stats": _PRINTED,
    "n": Fate(EXACT, "`topology.shape`, `topology.children`"),
    "network_file": Fate(EQUIVALENT, "`topology.file` from a list of links (`topology = anynet`), which is looked for "
                         "beside the configuration, then in the current folder. Channels need equal delays in both "
                         "directions, routers equal numbers of nodes"),
    "noq": Fate(REFUSED, "flitlab has no next-hop output queueing"),
    "num_vcs": Fate(EXACT, "`router.vcs`; packets of a dragonfly use two"),
    "out_ports": Fate(IGNORED, "of single routers, which no topology uses"),
    "output_buffer_size": Fate(EQUIVALENT, "`router.output_queue_flits`: `output_speedup` - 1 more, and 0 for no "
                               "limit; without effect unless there is speedup. 0 is refused"),
    "output_delay": Fate(REFUSED, "raise `st_final_delay`"),
    "output_speedup": Fate(EXACT, "`router.output_speedup`"),
    "packet_size": Fate(EXACT, "`traffic.packet_flits`, `traffic.class_flits`; with several classes one length each"),
    "packet_size_rate": Fate(EXACT, "`traffic.packet_flits`, as weights of lengths"),
    "pair_stats": _PRINTED,
    "perm_seed": Fate(IGNORED, "`traffic = randperm` is always the same permutation in flitlab, and not one of "
                      "BookSim's; in Python `with_pattern(fl.patterns.permutation(SEED))` draws others"),
    "power_output_file": _POWER, "print_activity": _PRINTED, "print_csv_results": _PRINTED,
    "priority": Fate(EQUIVALENT, "`router.arbiter`: `class`, `age`, `hop_count`. In BookSim arbiters of the allocators "
                     "break ties; in flitlab the lowest number wins. With iSLIP, an input of BookSim prefers its "
                     "packet of the highest priority for each output, and flitlab's takes turns (mean latency of the "
                     "preferred class 4 % higher on a 4x4 mesh at 0.4); with `sw_allocator = islip`, `age` and "
                     "`hop_count` have no effect in flitlab. With wavefront allocators, priorities have no effect in "
                     "flitlab's routers"),
    "private_buf_end_vc": _POLICY, "private_buf_size": _POLICY, "private_buf_start_vc": _POLICY,
    "private_bufs": _POLICY,
    **{f"{what}_{end}": fate for what in ("read_reply", "read_request", "write_reply", "write_request")
       for end, fate in (("begin_vc", _RANGE), ("end_vc", _RANGE), ("size", _LENGTH), ("subnet", _SUBNET))},
    "router": Fate(EXACT, "`iq`; `event` and `chaos` are refused"),
    "routing_delay": Fate(EXACT, "`router.routing_delay`; above 1, packets wait for one another in BookSim"),
    "routing_function": Fate(EQUIVALENT, "`routing.algorithm`; see the table of topologies"),
    "sample_period": Fate(EQUIVALENT, "see max_samples"),
    "seed": Fate(EQUIVALENT, "`run.seed`; the random numbers are others. `time` is refused"),
    "sent_packets_out": _PRINTED,
    "sim_count": Fate(IGNORED, "a sweep has several seeds (`--seeds`)"),
    "sim_power": Fate(REFUSED, "flitlab has no model of power or area"),
    "sim_type": Fate(EXACT, "`latency` and `throughput` are open loops, `batch` is `traffic.mode = \"batch\"`"),
    "spec_check_cred": _SPECULATES, "spec_check_elig": _SPECULATES, "spec_mask_by_reqs": _SPECULATES,
    "spec_sw_allocator": _SPECULATES,
    "speculative": Fate(EQUIVALENT, "`router.speculative`; a second allocator serves speculative requests after the "
                        "others, as with BookSim's default. Under load the latency is lower in flitlab, by 0.4 "
                        "cycles on a 4x4 mesh at 0.4 flits/cycle"),
    "st_final_delay": Fate(EXACT, "`router.switch_traversal_delay`, together with `st_prepare_delay`; if their sum is "
                           "above 1, flits wait for one another in BookSim"),
    "st_prepare_delay": Fate(EXACT, "`router.switch_traversal_delay`, together with `st_final_delay`"),
    "stats_out": _PRINTED, "stopping_thres": _ENDS,
    "subnets": Fate(REFUSED, "flitlab has no parallel networks; flitlab-booksim runs such a file"),
    "sw_alloc_delay": Fate(EXACT, "`router.switch_allocation_delay`"),
    "sw_allocator": Fate(EQUIVALENT, "`router.switch_allocator`: `islip`, `separable_input_first` (in flitlab "
                         "`separable_input_first_by_output`), `separable_output_first`, `wavefront`, "
                         "`rr_wavefront`; the others are refused. An "
                         "argument is `router.allocator_iterations` of iSLIP, and `router.arbiter` of a separable "
                         "allocator (`round_robin`, `matrix`). The first diagonal of a wavefront is random in "
                         "flitlab, and always the same or in turn in BookSim"),
    "tech_file": _POWER,
    "topology": Fate(EXACT, "`topology.kind`; see the table of topologies"),
    "traffic": Fate(EXACT, "`traffic.pattern`: `uniform`, `bitcomp`, `bitrev`, `shuffle`, `transpose`, `tornado`, "
                    "`neighbor` (both on meshes and tori only), `randperm` (equivalent), `hotspot({...})` with equal "
                    "rates; refused: the others, and with `flatfly` and `cmesh` `bitrev`, `shuffle`, `transpose`"),
    "use_noc_latency": Fate(EXACT, "`topology.channel_delay`: 2 cycles in a torus and a `cmesh`; `xr` cycles for each "
                            "step with `flatfly`, `topology.delay_by_distance`; otherwise 1"),
    "use_read_write": Fate(EQUIVALENT, "`traffic.mode = \"request_reply\"`: lengths of requests and replies are drawn "
                           "independently of each other, and a terminal has at most 256 requests without a reply"),
    "vc_alloc_delay": Fate(EXACT, "`router.vc_allocation_delay`"),
    "vc_allocator": Fate(EQUIVALENT, "`router.vc_allocator`, as `sw_allocator`"),
    "vc_buf_size": Fate(EXACT, "`router.buffer_flits`"),
    "vc_busy_when_full": Fate(REFUSED, "in flitlab a virtual channel without credits may be allocated"),
    "vc_prioritize_empty": _PRIORITY, "vc_priority_donation": _PRIORITY, "vc_shuffle_requests": _PRIORITY,
    "vct": Fate(IGNORED, "of the router `event`, which is refused"),
    "viewer_trace": _PRINTED,
    "wait_for_tail_credit": Fate(EXACT, "`router.wait_for_tail_credit`"),
    "warmup_periods": Fate(EQUIVALENT, "`run.warmup_cycles`, together with `sample_period`; 0: found automatically"),
    "warmup_thres": _ENDS,
    "watch_file": _WATCH, "watch_flits": _WATCH, "watch_out": _WATCH, "watch_packets": _WATCH,
    "watch_transactions": _WATCH,
    "write_fraction": Fate(EQUIVALENT, "with `use_read_write`: weights of lengths"),
    "x": _PLACES, "xr": _PLACES, "y": _PLACES, "yr": _PLACES,
}
