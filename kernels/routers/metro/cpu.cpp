#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/metro/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::MetroModel)
