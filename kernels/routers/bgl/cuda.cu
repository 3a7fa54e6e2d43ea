#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/bgl/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::BglModel)
