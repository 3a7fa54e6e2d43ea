#pragma once
/// Planning a large network can take minutes: it asks now and then whether the user still wants it.

namespace flitlab {

/// What `check_interrupt` calls; it throws to stop the work. Null, as at the beginning: nobody stops it.
void set_interrupt_check(void (*check)());

/// To be called in every round of a long loop, by the thread that the user waits for.
void check_interrupt();

}  // namespace flitlab
