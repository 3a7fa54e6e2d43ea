#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/sconnect/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::SconnectModel)
