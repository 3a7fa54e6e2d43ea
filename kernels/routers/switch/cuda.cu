#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/switch/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::SwitchModel)
