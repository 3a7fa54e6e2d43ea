#include "host/plan/interrupt.hpp"

#include <atomic>

namespace flitlab {
namespace {

std::atomic<void (*)()> the_check{nullptr};

}  // namespace

void set_interrupt_check(void (*check)()) { the_check = check; }

void check_interrupt() {
  if (void (*check)() = the_check) check();
}

}  // namespace flitlab
