#pragma once
/// Conversions between the core's types and Python's.
#include <pybind11/pybind11.h>

#include "host/config/experiment.hpp"
#include "host/plan/plan.hpp"
#include "host/run/result.hpp"
#include "host/run/stepped.hpp"

namespace flitlab {

pybind11::object to_python(const Value& value);
/// Throws ConfigError for a value that no parameter could have.
RawConfig from_python(const pybind11::dict& flat);

/// None for not-a-number, int for whole numbers beyond doubt, else float.
pybind11::object number(double x);
pybind11::dict to_dict(const Experiment& experiment, const Result& result);
/// kind, name, values (name, value, unit, help) and parts.
pybind11::dict to_dict(const InspectNode& node);
/// Kinds of items: name, count, and fields with name, count, unit, meaning and members.
pybind11::list to_list(const StateLayout& layout);
/// `own` names events that only the router model has.
pybind11::list events_to_list(const std::vector<TimedEvent>& events, std::string_view own);

}  // namespace flitlab
