#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/sconnect/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::SconnectModel)
