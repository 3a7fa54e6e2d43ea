#pragma once
#include <stdexcept>
#include <string>

namespace flitlab {

/// Exception for wrong user input (exit code 2). `what()` is the complete message: the parameter's path or the file,
/// the value given, the allowed values, and the fix.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Exception for a failed run (exit code 3): deadlock, a conservation fault, a device fault.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Exception: the device has too little free memory for a job. A sweep runs the job again when another job has ended.
class DeviceFull : public RunError {
 public:
  using RunError::RunError;
};

}  // namespace flitlab
