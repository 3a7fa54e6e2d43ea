"""The parameters of BookSim 2 (commit 28f4329, booksim_config.cpp, without TRACK_FLOWS and TRACK_CREDITS): name ->
default values, one for each type that a value may have. A word that is not empty counts more than a number."""

DEFAULTS: dict[str, tuple[int | float | str, ...]] = {
    "acc_stopping_thres": (0.05, ""), "acc_warmup_thres": (0.05, ""), "alloc_iters": (1,),
    "arb_type": ("round_robin",), "batch_count": (1,), "batch_size": (1000,), "buf_size": (-1,),
    "buffer_policy": ("private",), "burst_alpha": (0.5,), "burst_beta": (0.5,), "burst_r1": (-1.0,), "c": (1,),
    "channel_file": ("",), "channel_sweep": (0,), "channel_width": (128,), "class_priority": (0, ""),
    "classes": (1,), "credit_delay": (0,), "deadlock_warn_timeout": (256,), "fail_seed": (0, ""),
    "feedback_aging_scale": (1,), "feedback_offset": (0,), "hold_switch_for_packet": (0,), "in_ports": (5,),
    "include_queuing": (1,), "injection_process": ("bernoulli",), "injection_rate": (0.1, ""),
    "injection_rate_uses_flits": (0,), "input_speedup": (1,), "internal_speedup": (1.0,), "k": (8,),
    "latency_thres": (500.0, ""), "link_failures": (0,), "max_held_slots": (-1,), "max_outstanding_requests": (0,),
    "max_samples": (10,), "measure_stats": (1, ""), "n": (2,), "network_file": ("",), "noq": (0,), "num_vcs": (16,),
    "out_ports": (5,), "output_buffer_size": (-1,), "output_delay": (0,), "output_speedup": (1,),
    "packet_size": (1, ""), "packet_size_rate": (1, ""), "pair_stats": (0,), "perm_seed": (0, ""),
    "power_output_file": ("pwr_tmp",), "print_activity": (0,), "print_csv_results": (0,), "priority": ("none",),
    "private_buf_end_vc": (-1, ""), "private_buf_size": (1, ""), "private_buf_start_vc": (-1, ""),
    "private_bufs": (-1,), "read_reply_begin_vc": (8,), "read_reply_end_vc": (13,), "read_reply_size": (1, ""),
    "read_reply_subnet": (0,), "read_request_begin_vc": (0,), "read_request_end_vc": (5,),
    "read_request_size": (1, ""), "read_request_subnet": (0,), "router": ("iq",), "routing_delay": (1,),
    "routing_function": ("none",), "sample_period": (1000,), "seed": (0, ""), "sent_packets_out": ("",),
    "sim_count": (1,), "sim_power": (0,), "sim_type": ("latency",), "spec_check_cred": (1,), "spec_check_elig": (1,),
    "spec_mask_by_reqs": (0,), "spec_sw_allocator": ("prio",), "speculative": (0,), "st_final_delay": (1,),
    "st_prepare_delay": (0,), "stats_out": ("",), "stopping_thres": (0.05, ""), "subnets": (1,),
    "sw_alloc_delay": (1,), "sw_allocator": ("islip",), "tech_file": ("",), "topology": ("torus",),
    "traffic": ("uniform",), "use_noc_latency": (1,), "use_read_write": (0, ""), "vc_alloc_delay": (1,),
    "vc_allocator": ("islip",), "vc_buf_size": (8,), "vc_busy_when_full": (0,), "vc_prioritize_empty": (0,),
    "vc_priority_donation": (0,), "vc_shuffle_requests": (0,), "vct": (0,), "viewer_trace": (0,),
    "wait_for_tail_credit": (0,), "warmup_periods": (3,), "warmup_thres": (0.05, ""), "watch_file": ("",),
    "watch_flits": ("",), "watch_out": ("",), "watch_packets": ("",), "watch_transactions": ("",),
    "write_fraction": (0.5, ""), "write_reply_begin_vc": (10,), "write_reply_end_vc": (15,),
    "write_reply_size": (1, ""), "write_reply_subnet": (0,), "write_request_begin_vc": (2,),
    "write_request_end_vc": (7,), "write_request_size": (1, ""), "write_request_subnet": (0,), "x": (8,), "xr": (1,),
    "y": (8,), "yr": (1,),
}

# Parameters of a technology file (tech_file), which only the model of power reads.
POWER = frozenset([
    "H_INVD2", "W_INVD2", "H_DFQD1", "W_DFQD1", "H_ND2D1", "W_ND2D1", "H_SRAM", "W_SRAM", "Vdd", "R",
    "IoffSRAM", "IoffP", "IoffN", "Cg_pwr", "Cd_pwr", "Cgdl", "Cg", "Cd", "LAMBDA", "MetalPitch", "Rw",
    "Cw_gnd", "Cw_cpl", "wire_length",
])

# Parameters that the BookSim of RapidChiplet adds. Only flitlab-booksim reads them.
RAPIDCHIPLET: dict[str, tuple[int | float | str, ...]] = {
    "ignore_cycles": (0,), "mode": ("",), "routing_table_file": ("",), "routing_table_type": ("",),
    "trace_file": ("",), "traffic_file": ("",),
}
