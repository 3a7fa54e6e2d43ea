// A test bench that injects and takes packets: +mode=functions calls the functions of flitlab_pkg, +mode=module uses
// the module with its signals, +mode=errors makes wrong calls. Packets, "cycle source destination flits tag" by rising
// cycle, come from the file packets.txt.
module bench;
  import flitlab_pkg::*;

  localparam int unsigned N = 16;

  logic clk = 0;
  logic [N-1:0] in_valid = '0, in_ready, out_valid, out_ready = '1;
  logic [N-1:0][31:0] in_destination, in_flits, out_source, out_flits;
  logic [N-1:0][63:0] in_tag, out_tag;

  flitlab_network #(.CONFIG("net.toml"), .TERMINALS(N), .ROOM(2)) mesh (.*);

  // Packets of each source, in their order.
  longint unsigned cycles[N][$], tags[N][$];
  int unsigned destinations[N][$], lengths[N][$];
  int left;

  task automatic read_packets();
    longint unsigned cycle, tag;
    int unsigned source, destination, flits;
    int file;
    file = $fopen("packets.txt", "r");
    while ($fscanf(file, "%d %d %d %d %d", cycle, source, destination, flits, tag) == 5) begin
      cycles[source].push_back(cycle);
      destinations[source].push_back(destination);
      lengths[source].push_back(flits);
      tags[source].push_back(tag);
      ++left;
    end
    $fclose(file);
  endtask

  task automatic drop(int unsigned source);
    void'(cycles[source].pop_front());
    void'(destinations[source].pop_front());
    void'(lengths[source].pop_front());
    void'(tags[source].pop_front());
  endtask

  // Prints "tag source destination flits cycle" for each packet.
  task automatic run_functions(chandle net);
    longint unsigned tag, cycle;
    int unsigned found, source, flits;
    while (left > 0) begin
      for (int unsigned t = 0; t < N; ++t)
        while (cycles[t].size() > 0 && cycles[t][0] <= flitlab_dpi_cycle(net)) begin
          if (flitlab_dpi_offer(net, t, destinations[t][0], lengths[t][0], tags[t][0]) != FLITLAB_OK)
            $fatal(1, "%s", flitlab_dpi_error());
          drop(t);
        end
      if (flitlab_dpi_step(net, 1) != FLITLAB_OK) $fatal(1, "%s", flitlab_dpi_error());
      for (int unsigned t = 0; t < N; ++t) begin
        if (flitlab_dpi_take(net, t, found, tag, source, flits, cycle) != FLITLAB_OK)
          $fatal(1, "%s", flitlab_dpi_error());
        while (found != 0) begin
          $display("%0d %0d %0d %0d %0d", tag, source, t, flits, cycle);
          --left;
          if (flitlab_dpi_take(net, t, found, tag, source, flits, cycle) != FLITLAB_OK)
            $fatal(1, "%s", flitlab_dpi_error());
        end
      end
    end
  endtask

  // Prints "in tag edge" and "out tag source destination flits edge". The receivers are ready at edges from `ready` on.
  task automatic run_module(longint unsigned ready);
    for (longint unsigned edge_number = 0; left > 0; ++edge_number) begin
      for (int unsigned t = 0; t < N; ++t) begin
        in_valid[t] = cycles[t].size() > 0 && cycles[t][0] <= edge_number;
        if (in_valid[t]) begin
          in_destination[t] = destinations[t][0];
          in_flits[t] = lengths[t][0];
          in_tag[t] = tags[t][0];
        end
        out_ready[t] = edge_number >= ready;
        if (in_valid[t] && in_ready[t]) begin
          $display("in %0d %0d", tags[t][0], edge_number);
          drop(t);
        end
        if (out_valid[t] && out_ready[t]) begin  // valid since the edge before this one
          $display("out %0d %0d %0d %0d %0d", out_tag[t], out_source[t], t, out_flits[t], edge_number - 1);
          --left;
        end
      end
      #5 clk = 1;
      #5 clk = 0;
    end
  endtask

  task automatic say(string name, int status);
    $display("%s: %0d %s", name, status, status == FLITLAB_OK ? "" : flitlab_dpi_error());
  endtask

  task automatic errors();
    chandle net, wrong;
    longint unsigned tag, cycle;
    int unsigned found, source, flits, waiting;
    wrong = flitlab_dpi_open("no/such.toml");
    $display("open: %0d %s", wrong == null ? 2 : 0, flitlab_dpi_error());
    say("null", flitlab_dpi_step(wrong, 1));
    net = flitlab_dpi_open("net.toml");
    say("source", flitlab_dpi_offer(net, 16, 0, 1, 5));
    say("length", flitlab_dpi_offer(net, 0, 1, 0, 5));
    say("offer", flitlab_dpi_offer(net, 0, 1, 3, 5));
    say("second", flitlab_dpi_offer(net, 0, 1, 3, 6));
    say("third", flitlab_dpi_offer(net, 0, 1, 3, 7));
    say("waiting", flitlab_dpi_waiting(net, 0, waiting));
    $display("packets: %0d", waiting);
    say("waiting nowhere", flitlab_dpi_waiting(net, 16, waiting));
    say("take nowhere", flitlab_dpi_take(net, 16, found, tag, source, flits, cycle));
    say("take nothing", flitlab_dpi_take(net, 1, found, tag, source, flits, cycle));
    $display("found: %0d", found);
    say("step", flitlab_dpi_step(net, 100));
    say("check", flitlab_dpi_check(net));
    say("take", flitlab_dpi_take(net, 1, found, tag, source, flits, cycle));
    $display("arrived: %0d %0d %0d %0d %0d of %0d", found, tag, source, flits, cycle, flitlab_dpi_cycle(net));
    say("too far", flitlab_dpi_step(net, 64'd1 << 40));
    flitlab_dpi_close(net);
    flitlab_dpi_close(net);
    say("closed", flitlab_dpi_step(net, 1));
    $display("terminals: %0d", flitlab_dpi_terminals(net));
  endtask

  initial begin
    string mode;
    chandle net;
    longint unsigned ready = 0;
    if (!$value$plusargs("mode=%s", mode)) $fatal(1, "+mode is missing");
    void'($value$plusargs("ready=%d", ready));
    read_packets();
    if (mode == "functions") begin
      net = flitlab_dpi_open("net.toml");
      run_functions(net);
      flitlab_dpi_close(net);
    end
    if (mode == "module") #5 run_module(ready);
    if (mode == "errors") errors();
    $finish;
  end

endmodule
