#pragma once
/// Access of software to TICs: registers, and control messages of a host (S-Connect, 3.4).
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
  u32 number = 0;         ///< register, or destination in the routing table
  u32 value = 0;          ///< value to write or add
  u32 address = kNone;    ///< node to which routing tables lead the message first; kNone: none
  std::vector<u32> hops;  ///< source route from there: ports
  u32 priority = 2;       ///< priority; the reply has one more
  u32 tag = 0;            ///< tag of the reply, 0 to 255
};

/// The reply to a control message.
struct ControlReply {
  u32 tag = 0, number = 0, value = 0;
  u32 stamp = 0;  ///< the TIC's timer when it executed the request
};

/// Returns descriptions of the registers.
std::vector<RegisterRecord> sconnect_register_records();

/// Returns all registers of a TIC in the first replica.
std::map<std::string, u64> sconnect_registers(const Engine& engine, const sconnect::Table& table, u32 tic);

/// Returns a register. ConfigError if it does not exist.
u64 sconnect_register(const Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name);

/// Writes a register. ConfigError if it does not exist, is read-only, or the value is out of range.
void set_sconnect_register(Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name, u64 value);

/// Puts requests into a terminal's mailbox. Returns how many fit. ConfigError, without any effect, if a request is
/// invalid.
u32 send_sconnect_control(Engine& engine, const sconnect::Table& table, u32 terminal,
                          const std::vector<ControlRequest>& requests);
/// Removes and returns the replies in a terminal's mailbox.
std::vector<ControlReply> take_sconnect_replies(Engine& engine, const sconnect::Table& table, u32 terminal);
/// Sets the addresses [terminals] that hosts use for each terminal. ConfigError unless TICs start without tables.
void set_sconnect_addresses(Engine& engine, const sconnect::Table& table, const std::vector<u32>& addresses);

}  // namespace flitlab
