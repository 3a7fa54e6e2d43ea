#pragma once
/// Console of a Blue Gene/L torus. Software can read the running CRCs of links and the checksums of injection FIFOs
/// between cycles.
#include <map>
#include <string>

#include "host/plan/console.hpp"
#include "host/routers/bgl/plan.hpp"

namespace flitlab {

/// Returns the registers of a node by name: SENT_CRC and RECEIVED_CRC for every link ("SENT_CRC +x"), INJECTION_SUM for
/// every injection FIFO ("INJECTION_SUM 0"). Returns no registers without the link protocol.
std::map<std::string, u64> bgl_registers(const Engine& engine, const BglPlan& plan, u32 node);
/// Returns the value of one register of a node. Throws ConfigError if the node has no register of that name.
u64 bgl_register(const Engine& engine, const BglPlan& plan, u32 node, const std::string& name);

class BglConsole final : public Console {
 public:
  explicit BglConsole(const BglPlan& plan);
};

}  // namespace flitlab
