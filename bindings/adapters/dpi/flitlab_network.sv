// A network whose terminals have valid and ready signals. A packet is accepted at a clock edge at which `in_valid` and
// `in_ready` are high. It appears at its destination after the edge of the cycle in which its tail arrives, and stays
// until an edge at which `out_ready` is high. Each edge of the clock is a cycle of the network.
module flitlab_network
  import flitlab_pkg::*;
#(
    parameter string CONFIG = "network.toml",  // configuration of flitlab
    parameter int unsigned TERMINALS = 16,
    parameter int unsigned ROOM = 4  // packets that wait at a source, at most
) (
    input  logic                       clk,
    input  logic [TERMINALS-1:0]       in_valid,
    output logic [TERMINALS-1:0]       in_ready,
    input  logic [TERMINALS-1:0][31:0] in_destination,
    input  logic [TERMINALS-1:0][31:0] in_flits,
    input  logic [TERMINALS-1:0][63:0] in_tag,
    output logic [TERMINALS-1:0]       out_valid,
    input  logic [TERMINALS-1:0]       out_ready,
    output logic [TERMINALS-1:0][31:0] out_source,
    output logic [TERMINALS-1:0][31:0] out_flits,
    output logic [TERMINALS-1:0][63:0] out_tag
);

  chandle network;

  initial begin
    network = flitlab_dpi_open(CONFIG);
    if (network == null) $fatal(1, "%s", flitlab_dpi_error());
    if (flitlab_dpi_terminals(network) != TERMINALS)
      $fatal(1, "%s has %0d terminals, and TERMINALS = %0d", CONFIG, flitlab_dpi_terminals(network), TERMINALS);
    in_ready  = '1;
    out_valid = '0;
  end

  final flitlab_dpi_close(network);

  always @(posedge clk) begin
    automatic int unsigned waiting, found, source, flits;
    automatic longint unsigned tag, cycle;
    automatic logic [TERMINALS-1:0] ready = '0, valid = out_valid;
    automatic logic [TERMINALS-1:0][31:0] sources = out_source, lengths = out_flits;
    automatic logic [TERMINALS-1:0][63:0] tags = out_tag;
    for (int unsigned t = 0; t < TERMINALS; ++t)
      if (in_valid[t] && in_ready[t])
        if (flitlab_dpi_offer(network, t, in_destination[t], in_flits[t], in_tag[t]) != FLITLAB_OK)
          $fatal(1, "%s", flitlab_dpi_error());
    if (flitlab_dpi_step(network, 1) != FLITLAB_OK) $fatal(1, "%s", flitlab_dpi_error());
    for (int unsigned t = 0; t < TERMINALS; ++t) begin
      if (flitlab_dpi_waiting(network, t, waiting) != FLITLAB_OK) $fatal(1, "%s", flitlab_dpi_error());
      ready[t] = waiting < ROOM;
      if (!out_valid[t] || out_ready[t]) begin
        if (flitlab_dpi_take(network, t, found, tag, source, flits, cycle) != FLITLAB_OK)
          $fatal(1, "%s", flitlab_dpi_error());
        valid[t]   = found != 0;
        sources[t] = source;
        lengths[t] = flits;
        tags[t]    = tag;
      end
    end
    in_ready   <= ready;
    out_valid  <= valid;
    out_source <= sources;
    out_flits  <= lengths;
    out_tag    <= tags;
  end

endmodule
