#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/adaptive/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::AdaptiveModel)
