#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/t3e/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::T3eModel)
