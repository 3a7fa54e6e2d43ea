#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/metro/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::MetroModel)
