#pragma once
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Bytes that this process can still take: what the machine has free, or less where a control group or a limit of the
/// process (ulimit -v) says so.
u64 free_memory();

/// Address space that the stack of a thread takes where a limit of the process counts it; 0 where only memory in use
/// counts.
u64 stack_bytes();

/// Throws ConfigError naming `what` (and what else the user should know) if `bytes` are more than there are.
void require_memory(std::string_view what, u64 bytes, const std::string& advice);
/// The same where something else is free: `where`, " on the device".
void require_memory(std::string_view what, u64 bytes, u64 available, std::string_view where, const std::string& advice);

}  // namespace flitlab
