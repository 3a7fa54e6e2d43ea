#pragma once
/// Operations of software on a T3E between cycles: node registers, barrier units and the special network.
#include "host/plan/console.hpp"
#include "host/routers/t3e/plan.hpp"
#include "host/routers/t3e/special_feed.hpp"

namespace flitlab {

class T3eConsole final : public Console {
 public:
  explicit T3eConsole(const T3ePlan& plan);

  u32 period() const override { return feed_ ? t3e::kSpecialQueue : kNever; }
  void exchange(Engine& engine) override;
  void save(Saver& saver) const override;
  void load(Loader& loader) override;

 private:
  void offer_registers();
  void offer_barriers();
  void offer_special();
  t3e::SpecialFeed& feed();

  const T3ePlan& plan_;
  std::unique_ptr<t3e::SpecialFeed> feed_;  ///< null without the special network
};

}  // namespace flitlab
