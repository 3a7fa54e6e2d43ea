// One router of the RTL with a port for each of its channels. The parameters are those of router_wrap that
// tests/perf/compare_rtl.py sets; their values are the numbers of the RTL's constants. Packets have head and tail bits,
// links have no power management, and the terminals are the last ports.
module router_ports #(
    parameter int TOPOLOGY = 0,
    parameter int ROUTERS_PER_DIMENSION = 4,
    parameter int DIMENSIONS = 2,
    parameter int CONCENTRATION = 1,
    parameter int MESSAGE_CLASSES = 1,
    parameter int VCS_PER_CLASS = 1,
    parameter int BUFFER_FLITS = 8,
    parameter int CREDIT_BYPASS = 1,
    parameter int ELIGIBLE = 0,
    parameter int VC_ALLOCATOR = 0,
    parameter int VC_ARBITER = 2,
    parameter int SWITCH_ALLOCATOR = 0,
    parameter int SWITCH_ARBITER = 2,
    parameter int SPECULATION = 0,
    parameter int FULLY_CONNECTED = 2,
    localparam int VCS = MESSAGE_CLASSES * VCS_PER_CLASS,
    localparam int PER_DIMENSION = TOPOLOGY == FULLY_CONNECTED ? ROUTERS_PER_DIMENSION - 1 : 2,
    localparam int PORTS = DIMENSIONS * PER_DIMENSION + CONCENTRATION,
    localparam int COORDINATE = $clog2(ROUTERS_PER_DIMENSION)
) (
    input logic clk,
    input logic reset,
    input logic [DIMENSIONS * COORDINATE - 1:0] address,
    input logic in_valid[PORTS],
    input logic in_head[PORTS],
    input logic in_tail[PORTS],
    input logic [7:0] in_vc[PORTS],
    input logic [7:0] in_route[PORTS],
    input logic [15:0] in_address[PORTS],
    input logic [39:0] in_tag[PORTS],
    input logic credit_valid[PORTS],
    input logic [7:0] credit_vc[PORTS],
    output logic out_valid[PORTS],
    output logic out_head[PORTS],
    output logic out_tail[PORTS],
    output logic [7:0] out_vc[PORTS],
    output logic [7:0] out_route[PORTS],
    output logic [15:0] out_address[PORTS],
    output logic [39:0] out_tag[PORTS],
    output logic return_valid[PORTS],
    output logic [7:0] return_vc[PORTS],
    output logic error
);
  localparam int VC_BITS = $clog2(VCS);
  localparam int PORT_BITS = $clog2(PORTS);
  localparam int ADDRESS_BITS = DIMENSIONS * COORDINATE + $clog2(CONCENTRATION);
  localparam int DATA_BITS = 72;
  localparam int TAG_BITS = 40;
  localparam int FLIT = 1 + VC_BITS + 2 + DATA_BITS;
  localparam int CREDIT = 1 + VC_BITS;
  localparam int HEAD_AND_TAIL_BITS = 0, LEFT = FLIT - 1, CREDIT_LEFT = CREDIT - 1;

  // Bit 0 of a vector of the RTL is its most significant one, and port 0 comes first.
  wire [0:PORTS * FLIT - 1] channels_in, channels_out;
  wire [0:PORTS * CREDIT - 1] credits_in, credits_out;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    wire [LEFT:0] in, out;
    wire [CREDIT_LEFT:0] credit, returned;
    wire [DATA_BITS - 1:0] data;
    assign data = {in_route[p][PORT_BITS - 1:0], in_address[p][ADDRESS_BITS - 1:0],
                   {(DATA_BITS - PORT_BITS - ADDRESS_BITS - TAG_BITS) {1'b0}}, in_tag[p]};
    assign channels_in[p * FLIT +: FLIT] = in;
    assign out = channels_out[p * FLIT +: FLIT];
    assign credits_in[p * CREDIT +: CREDIT] = credit;
    assign returned = credits_out[p * CREDIT +: CREDIT];
    assign in[LEFT] = in_valid[p];
    assign in[DATA_BITS + 1:0] = {in_head[p], in_tail[p], data};
    assign out_valid[p] = out[LEFT];
    assign {out_head[p], out_tail[p]} = out[DATA_BITS + 1 -: 2];
    assign out_route[p] = 8'(out[DATA_BITS - 1 -: PORT_BITS]);
    assign out_address[p] = 16'(out[DATA_BITS - PORT_BITS - 1 -: ADDRESS_BITS]);
    assign out_tag[p] = out[TAG_BITS - 1:0];
    assign credit[CREDIT_LEFT] = credit_valid[p];
    assign return_valid[p] = returned[CREDIT_LEFT];
    if (VC_BITS > 0) begin : gen_vc
      assign in[LEFT - 1 -: VC_BITS] = in_vc[p][VC_BITS - 1:0];
      assign out_vc[p] = 8'(out[LEFT - 1 -: VC_BITS]);
      assign credit[CREDIT_LEFT - 1 -: VC_BITS] = credit_vc[p][VC_BITS - 1:0];
      assign return_vc[p] = 8'(returned[CREDIT_LEFT - 1 -: VC_BITS]);
    end else begin : gen_one_vc
      assign out_vc[p] = 0;
      assign return_vc[p] = 0;
    end
  end

  router_wrap #(
      .topology(TOPOLOGY),
      .buffer_size(BUFFER_FLITS * VCS),
      .num_message_classes(MESSAGE_CLASSES),
      .num_resource_classes(1),
      .num_vcs_per_class(VCS_PER_CLASS),
      .num_nodes(ROUTERS_PER_DIMENSION ** DIMENSIONS * CONCENTRATION),
      .num_dimensions(DIMENSIONS),
      .num_nodes_per_router(CONCENTRATION),
      .packet_format(HEAD_AND_TAIL_BITS),
      .flow_ctrl_bypass(CREDIT_BYPASS),
      .enable_link_pm(0),
      .flit_data_width(DATA_BITS),
      .elig_mask(ELIGIBLE),
      .vc_alloc_type(VC_ALLOCATOR),
      .vc_alloc_arbiter_type(VC_ARBITER),
      .sw_alloc_type(SWITCH_ALLOCATOR),
      .sw_alloc_arbiter_type(SWITCH_ARBITER),
      .sw_alloc_spec_type(SPECULATION)
  ) router (
      .clk(clk),
      .reset(reset),
      .router_address(address),
      .channel_in_ip(channels_in),
      .flow_ctrl_out_ip(credits_out),
      .channel_out_op(channels_out),
      .flow_ctrl_in_op(credits_in),
      .error(error)
  );
endmodule
