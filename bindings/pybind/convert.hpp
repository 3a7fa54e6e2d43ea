#pragma once
/// Conversions between the core's types and Python's.
#include <pybind11/pybind11.h>

#include "host/config/experiment.hpp"
#include "host/plan/plan.hpp"
#include "host/run/result.hpp"
#include "host/run/stepped.hpp"

namespace flitlab {

/// Returns a parameter's value as a Python object.
pybind11::object to_python(const Value& value);
/// Returns a configuration from a dict whose keys are dotted paths. ConfigError for a value whose type no parameter
/// has.
RawConfig from_python(const pybind11::dict& flat);

/// Returns None for not-a-number, an int for a whole number below 9e15 in magnitude, otherwise a float.
pybind11::object number(double x);
/// Returns a result together with its configuration.
pybind11::dict to_dict(const Experiment& experiment, const Result& result);
/// Returns an inspected item as a dict: kind, help, name, note, values (name, value, unit, help) and parts.
pybind11::dict to_dict(const InspectNode& node);
/// Returns the kinds of items: name, count, fields and absent fields. Each field has name, count, unit, meaning and
/// members.
pybind11::list to_list(const StateLayout& layout);
/// Returns events as dicts. `own`: name of the event kind that only this router model has.
pybind11::list events_to_list(const std::vector<TimedEvent>& events, std::string_view own);

}  // namespace flitlab
