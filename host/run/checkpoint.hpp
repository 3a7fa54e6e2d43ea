#pragma once
/// Checkpoint files: a header with format and configuration, the values in the order in which they were saved, and a
/// checksum.
#include <functional>
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/archive.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

class Plan;

/// Returns a hash of all parameters that determine the results of the experiments, and of the flitlab version.
u64 configuration_hash(const std::vector<Experiment>& experiments);

/// Saves the state, the counters and the run parameters of one replica. The caller saves the clock, which all replicas
/// share.
void save_replica(Saver& saver, Engine& engine, u32 replica);
/// Loads one replica. Throws ConfigError if the data are not a state of that plan. check_loaded() must then check that
/// the state is possible in its cycle.
void load_replica(Loader& loader, Engine& engine, const Plan& plan, u32 replica);

/// Writes a checkpoint to the file `path`.partial and then renames it to `path`, so that a crash leaves the old file
/// intact. ConfigError if the file cannot be written.
void save_checkpoint(const std::string& path, u64 configuration, const std::function<void(Saver&)>& save);

/// Reads a checkpoint. A first pass verifies its length and checksum. ConfigError if the checkpoint is damaged or
/// belongs to another configuration; `load` has not been called in this case. `load` throws ConfigError if it reads an
/// impossible value; the object that was being loaded must not be used after that.
void load_checkpoint(const std::string& path, u64 configuration, const std::function<void(Loader&)>& load);

}  // namespace flitlab
