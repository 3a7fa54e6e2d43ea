#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/switch/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::SwitchModel)
