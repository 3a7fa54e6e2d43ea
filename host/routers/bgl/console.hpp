#pragma once
/// Console of a Blue Gene/L torus: running CRCs of links and checksums of injection FIFOs, readable between cycles.
#include <map>
#include <string>

#include "host/plan/console.hpp"
#include "host/routers/bgl/plan.hpp"

namespace flitlab {

/// Returns the registers of a node: SENT_CRC +x and RECEIVED_CRC +x for every link, INJECTION_SUM 0 for every injection
/// FIFO. Empty without the link protocol.
std::map<std::string, u64> bgl_registers(const Engine& engine, const BglPlan& plan, u32 node);
/// Returns one register of a node. Throws ConfigError if the node has no register of that name.
u64 bgl_register(const Engine& engine, const BglPlan& plan, u32 node, const std::string& name);

class BglConsole final : public Console {
 public:
  explicit BglConsole(const BglPlan& plan);
};

}  // namespace flitlab
