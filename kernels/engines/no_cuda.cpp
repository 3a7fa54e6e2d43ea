/// What stands in for the CUDA engine in a build without a CUDA compiler.
#ifndef FLITLAB_CUDA
#include "host/error.hpp"
#include "host/models/adaptive_engines.hpp"
#include "host/models/bgl_engines.hpp"
#include "host/models/metro_engines.hpp"
#include "host/models/sconnect_engines.hpp"
#include "host/models/switch_engines.hpp"
#include "host/models/t3e_engines.hpp"
#include "host/models/vc_engines.hpp"

namespace flitlab {

std::string cuda_unavailable() { return "this build has no CUDA engine (no CUDA compiler was found)."; }

std::unique_ptr<Engine> make_vc_cuda_engine(const vc::VcTable&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_t3e_cuda_engine(const t3e::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_bgl_cuda_engine(const bgl::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_metro_cuda_engine(const metro::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_sconnect_cuda_engine(const sconnect::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_adaptive_cuda_engine(const adaptive::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

std::unique_ptr<Engine> make_switch_cuda_engine(const sw::Table&, const StateLayout&, std::vector<ReplicaRow>) {
  throw ConfigError("--backend cuda: " + cuda_unavailable());
}

}  // namespace flitlab
#endif
