#pragma once
/// Interruption of long computations on the host: planning a large network can take minutes.

namespace flitlab {

/// Sets the function that `check_interrupt` calls; it throws to stop the work. Null (the default): no check.
void set_interrupt_check(void (*check)());

/// Calls that function. Long loops call it in every iteration, on the thread that the user waits for.
void check_interrupt();

}  // namespace flitlab
