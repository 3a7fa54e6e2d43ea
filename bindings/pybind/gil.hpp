#pragma once
/// Python's lock (GIL) in threads that outlive the interpreter.
///
/// While Python exits, it ends every other thread that takes the lock (CPython up to 3.13: pthread_exit). The end
/// unwinds the thread's C++ frames, and a destructor that takes the lock then ends the whole process with "terminate
/// called". Threads of daemons and of dask's workers run experiments, so this happens at an interrupt. Here such a
/// thread waits for the end of the process, as in Python 3.14.
#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>
#include <thread>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace flitlab {

/// Calls f, which takes the lock or runs Python code. Does not return if Python exits meanwhile.
template <class F>
auto unless_python_exits(F f) {
#ifdef __GLIBCXX__
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
#else
  return f();
#endif
}

/// Holds Python's lock while it exists.
class WithGil {
 public:
  WithGil() {
    unless_python_exits([this] { held_.emplace(); });
  }

 private:
  std::optional<pybind11::gil_scoped_acquire> held_;
};

/// Releases Python's lock while it exists.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    unless_python_exits([this] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace flitlab
