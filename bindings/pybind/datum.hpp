#pragma once
/// Values of any type between the core and Python, and what consoles and tools say of themselves.
#include <pybind11/pybind11.h>

#include "host/plan/console.hpp"

namespace flitlab {

/// Lists become lists, maps dicts, nothing None.
pybind11::object to_python(const Datum& value);

/// Arguments of an operation: numbers, words, None, lists and tuples (and what can be gone through like them: arrays)
/// and dicts by words. ConfigError, which names the argument, for anything else and for numbers beyond 64 bits.
Datum::Map arguments_from_python(const pybind11::dict& arguments);

pybind11::dict to_dict(const OperationRecord& record);
pybind11::list registers_to_list(const std::vector<RegisterRecord>& registers);
pybind11::list operations_to_list(const std::vector<Operation>& operations);

}  // namespace flitlab
