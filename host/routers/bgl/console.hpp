#pragma once
/// What software can read of a Blue Gene/L torus between cycles: running CRCs of links, checksums of injection FIFOs.
#include <map>
#include <string>

#include "host/plan/console.hpp"
#include "host/routers/bgl/plan.hpp"

namespace flitlab {

/// SENT_CRC +x and RECEIVED_CRC +x of every link, INJECTION_SUM 0 of every FIFO; empty without the link protocol.
std::map<std::string, u64> bgl_registers(const Engine& engine, const BglPlan& plan, u32 node);
/// ConfigError if there is no such register.
u64 bgl_register(const Engine& engine, const BglPlan& plan, u32 node, const std::string& name);

class BglConsole final : public Console {
 public:
  explicit BglConsole(const BglPlan& plan);
};

}  // namespace flitlab
