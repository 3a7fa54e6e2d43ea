#pragma once
/// Software's ways into a TIC: registers from outside, and control messages from a host (S-Connect, 3.4). Registers:
///   address, enabled (ports, as bits), timer (16 bits), counting (event, 32: none), counter
///   used (buffers), held.N (buffers of queue N = 8 port + 2 priority + virtual channel)
///   damaged.P, refused.P, failed.P, lost.P, carried.P   error registers of port P, and what it has sent
///   unheard.P (replies lost because the mailbox of the host at port P was full)
///   table.N (options to node N, bit 2 port + virtual channel, of ports that lead anywhere; a host's has the even bit)
///   slot.P (protocol bits of the slot that comes by channel P in the next cycle, kernels/routers/sconnect/channel.hpp;
///     0: nothing is sent), message.P (if there is one in it: source 2^32 + number there)
/// and with clocks:
///   clock_on (the loop is closed), clock_limit (the pull is at the end of the tuning range)
///   clock_sends (ports whose data stream is on, and with it their clock), slips (words lost or repeated)
///   clock_phase, clock_free, clock_rate, clock_error (2^-32 rad, and per routing cycle; two's complement)
/// and of each channel P:
///   delay.P (one way, routing cycles)
///   runs.P (1: the clock of the far end comes), fifo.P (depth from half full at the last comparison, 2^-32 rad)
///   cable.P (the same, less the difference of the phases: d of equation 1, changed by slips)
///   overflows.P, underflows.P (words lost, and repeated)
#include <map>
#include <string>
#include <vector>

#include "kernels/engines/engine.hpp"
#include "kernels/routers/sconnect/state.hpp"

namespace flitlab {

/// A control message that software at a terminal sends to a router.
struct ControlRequest {
  std::string operation;  ///< read_table, write_table, read_register, write_register, add_to_timer
  u32 number = 0;         ///< of the register, or the destination in the table
  u32 value = 0;          ///< to be written, or added
  u32 address = kNone;    ///< goes there by the routing tables; kNone: nowhere
  std::vector<u32> hops;  ///< ports to be taken from there on
  u32 priority = 2;       ///< the reply has the next
  u32 tag = 0;            ///< what the reply will bear, 0 to 255
};

struct ControlReply {
  u32 tag = 0, number = 0, value = 0;
  u32 stamp = 0;  ///< the router's timer when it carried out the request
};

/// All registers of a TIC of the first replica.
std::map<std::string, u64> sconnect_registers(const Engine& engine, const sconnect::Table& table, u32 tic);

/// ConfigError if there is no such register.
u64 sconnect_register(const Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name);

/// ConfigError if there is no such register, it can be read only, or it does not take the value.
void set_sconnect_register(Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name, u64 value);

/// Returns how many of the requests have found a place in the terminal's mailbox. ConfigError, with none sent, if one
/// makes no sense.
u32 send_sconnect_control(Engine& engine, const sconnect::Table& table, u32 terminal,
                          const std::vector<ControlRequest>& requests);
std::vector<ControlReply> take_sconnect_replies(Engine& engine, const sconnect::Table& table, u32 terminal);
/// What other hosts address messages to each terminal to; ConfigError unless TICs start without tables.
void set_sconnect_addresses(Engine& engine, const sconnect::Table& table, const std::vector<u32>& addresses);

}  // namespace flitlab
