#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/adaptive/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::AdaptiveModel)
