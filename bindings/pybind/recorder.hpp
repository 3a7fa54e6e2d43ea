#pragma once
/// The recorder of the scope (bindings/frames) in Python.
#include <pybind11/pybind11.h>

namespace flitlab {

/// Adds the class to the module. All that it puts is text, in JSON.
void bind_recorder(pybind11::module_& m);

}  // namespace flitlab
