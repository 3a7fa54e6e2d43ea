#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/bless/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::BlessModel)
