#pragma once
/// Conversion of values of any type between the core and Python, and of the records of consoles and tools.
#include <pybind11/pybind11.h>

#include "host/plan/console.hpp"

namespace flitlab {

/// Returns a value as a Python object: lists as lists, maps as dicts, an empty value as None.
pybind11::object to_python(const Datum& value);

/// Returns the arguments of an operation: numbers, strings, None, lists, tuples and other sequences or arrays, and
/// dicts with strings as keys. ConfigError, which names the argument, for other types and for integers beyond 64 bits.
Datum::Map arguments_from_python(const pybind11::dict& arguments);

/// Return records as dicts.
pybind11::dict to_dict(const OperationRecord& record);
pybind11::list registers_to_list(const std::vector<RegisterRecord>& registers);
pybind11::list operations_to_list(const std::vector<Operation>& operations);

}  // namespace flitlab
