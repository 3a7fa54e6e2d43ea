#include "kernels/engines/cuda_unit.cuh"
#include "kernels/routers/vc/model.hpp"

FLITLAB_CUDA_ENGINE(flitlab::VcModel)
