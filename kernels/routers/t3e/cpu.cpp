#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/t3e/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::T3eModel)
