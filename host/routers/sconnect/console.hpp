#pragma once
/// Console of an S-Connect fabric: registers of TICs, control messages, replies and addresses of hosts, between cycles.
#include "host/plan/console.hpp"
#include "host/routers/sconnect/plan.hpp"

namespace flitlab {

class SconnectConsole final : public Console {
 public:
  explicit SconnectConsole(const SconnectPlan& plan);

 private:
  void offer_registers();
  void offer_messages();

  const SconnectPlan& plan_;
};

}  // namespace flitlab
