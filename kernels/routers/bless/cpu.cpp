#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/bless/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::BlessModel)
