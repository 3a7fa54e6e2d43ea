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
  std::string operation;  ///< "read_table", "write_table", "read_register", "write_register" or "add_to_timer"
  u32 number = 0;         ///< number of the register, or destination whose routing-table entry is accessed
  u32 value = 0;          ///< value to write or add
  /// Node to which the routing tables first lead the message; kNone: the source route begins at the sender.
  u32 address = kNone;
  std::vector<u32> hops;  ///< source route from that node on: output ports
  u32 priority = 2;       ///< priority of the request; the reply has the next higher one
  u32 tag = 0;            ///< number from 0 to 255 that the reply repeats
};

/// The reply to a control message.
struct ControlReply {
  u32 tag = 0, number = 0, value = 0;
  u32 stamp = 0;  ///< value of the TIC's timer when the TIC executed the request
};

/// Returns descriptions of the registers.
std::vector<RegisterRecord> sconnect_register_records();

/// Returns the values of all registers of a TIC in the first replica, by name.
std::map<std::string, u64> sconnect_registers(const Engine& engine, const sconnect::Table& table, u32 tic);

/// Returns the value of a register. ConfigError if the register does not exist.
u64 sconnect_register(const Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name);

/// Writes a register. ConfigError if it does not exist or is read-only, or if the value is out of range.
void set_sconnect_register(Engine& engine, const sconnect::Table& table, u32 tic, const std::string& name, u64 value);

/// Puts requests into a terminal's mailbox. Returns the number of requests for which the mailbox had room. If a request
/// is invalid, throws ConfigError and sends none.
u32 send_sconnect_control(Engine& engine, const sconnect::Table& table, u32 terminal,
                          const std::vector<ControlRequest>& requests);
/// Removes and returns the replies in a terminal's mailbox.
std::vector<ControlReply> take_sconnect_replies(Engine& engine, const sconnect::Table& table, u32 terminal);
/// Sets the addresses by which hosts send to each terminal ([terminals]). ConfigError unless TICs start without routing
/// tables.
void set_sconnect_addresses(Engine& engine, const sconnect::Table& table, const std::vector<u32>& addresses);

}  // namespace flitlab
