#pragma once
/// Software's ways into a TIC: registers from outside, and control messages from a host (S-Connect, 3.4).
#include <map>
#include <string>
#include <vector>

#include "host/plan/console.hpp"
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

/// What they are.
std::vector<RegisterRecord> sconnect_register_records();

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
