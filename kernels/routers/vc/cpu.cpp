#include "kernels/engines/cpu_unit.hpp"
#include "kernels/routers/vc/model.hpp"

FLITLAB_CPU_ENGINES(flitlab::VcModel)
