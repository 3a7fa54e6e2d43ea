#pragma once
/// What software can do to an S-Connect fabric between cycles: registers from outside, and what a host can send, be
/// told and be called.
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
