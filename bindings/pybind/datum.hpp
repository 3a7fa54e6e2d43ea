#pragma once
/// Conversions between the core and Python: values of any type (Datum), and descriptions of the operations of consoles
/// and tools.
#include <pybind11/pybind11.h>

#include "host/plan/console.hpp"

namespace flitlab {

/// Returns a value as a Python object: a list as a list, a map as a dict, an empty value as None.
pybind11::object to_python(const Datum& value);

/// Returns the arguments of an operation. Accepts numbers, strings, None, lists, tuples, other sequences, arrays, and
/// dicts with strings as keys. ConfigError that names the argument for any other type, and for an integer beyond 64
/// bits.
Datum::Map arguments_from_python(const pybind11::dict& arguments);

/// Return records as dicts.
pybind11::dict to_dict(const OperationRecord& record);
pybind11::list registers_to_list(const std::vector<RegisterRecord>& registers);
pybind11::list operations_to_list(const std::vector<Operation>& operations);

}  // namespace flitlab
