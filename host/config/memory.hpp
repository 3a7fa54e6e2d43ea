#pragma once
/// Free memory of the machine, and the check that a job fits in it.
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Returns the number of bytes that this process can still allocate: the machine's free memory, or less if a control
/// group or a limit of the process (ulimit -v) allows less.
u64 free_memory();

/// Returns the address space of a thread's stack, bytes, if the process has a limit of address space (ulimit -v);
/// otherwise 0.
u64 stack_bytes();

/// Throws ConfigError if `bytes` exceed the free memory. The message starts with `what` and ends with `advice`.
void require_memory(std::string_view what, u64 bytes, const std::string& advice);
/// Throws ConfigError if `bytes` exceed `available`, the free memory of another device. `where`: for example " on the
/// device".
void require_memory(std::string_view what, u64 bytes, u64 available, std::string_view where, const std::string& advice);

}  // namespace flitlab
