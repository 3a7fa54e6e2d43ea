#pragma once
/// Python binding of the scope's recorder (bindings/frames).
#include <pybind11/pybind11.h>

namespace flitlab {

/// Adds the class Recorder to the module. Its functions return JSON texts.
void bind_recorder(pybind11::module_& m);

}  // namespace flitlab
