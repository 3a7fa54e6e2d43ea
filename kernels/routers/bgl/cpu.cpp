#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/bgl/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::BglModel)
