// Functions of flitlab for SystemVerilog. Link flitlab_dpi.cpp and the C library.
// Functions that return an int return FLITLAB_OK, or another status of flitlab.h; flitlab_dpi_error() then says why.
package flitlab_pkg;

  typedef enum int {
    FLITLAB_OK = 0,
    FLITLAB_FULL = 1,       // a source queue is full; offer the packet again later
    FLITLAB_BAD_INPUT = 2,  // an argument is wrong; nothing has changed
    FLITLAB_FAILED = 3      // the network is deadlocked, or the emulation failed
  } flitlab_status_t;

  // Opens a configuration in TOML; null if it is missing or wrong.
  import "DPI-C" function chandle flitlab_dpi_open(input string path);
  import "DPI-C" function void flitlab_dpi_close(input chandle network);
  // Returns the message of the last call that failed.
  import "DPI-C" function string flitlab_dpi_error();

  // Return the number of terminals, and of the next cycle; 0 if the network is not open.
  import "DPI-C" function int unsigned flitlab_dpi_terminals(input chandle network);
  import "DPI-C" function longint unsigned flitlab_dpi_cycle(input chandle network);

  // Offers a packet, which its source creates in the next cycle.
  import "DPI-C" function int flitlab_dpi_offer(input chandle network, input int unsigned source,
                                                input int unsigned destination, input int unsigned flits,
                                                input longint unsigned tag);
  // Gives the number of packets at a source whose head has not left.
  import "DPI-C" function int flitlab_dpi_waiting(input chandle network, input int unsigned source,
                                                  output int unsigned packets);
  // Emulates cycles.
  import "DPI-C" function int flitlab_dpi_step(input chandle network, input longint unsigned cycles);
  // Takes the packet that arrived first at a terminal. `found`: 0 if there is none. `cycle`: arrival of its tail.
  import "DPI-C" function int flitlab_dpi_take(input chandle network, input int unsigned terminal,
                                               output int unsigned found, output longint unsigned tag,
                                               output int unsigned source, output int unsigned flits,
                                               output longint unsigned cycle);
  // Returns FLITLAB_FAILED if the network is deadlocked or has lost flits.
  import "DPI-C" function int flitlab_dpi_check(input chandle network);

endpackage
