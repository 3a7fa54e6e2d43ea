#pragma once
/// Interruption of long computations on the host. To plan a large network can take minutes.

namespace flitlab {

/// Sets the function that check_interrupt() calls. This function throws an exception to stop the work. Null (the
/// default): no check.
void set_interrupt_check(void (*check)());

/// Calls the function that set_interrupt_check() has set. Long loops call it in every iteration, on the thread for
/// which the user waits.
void check_interrupt();

}  // namespace flitlab
