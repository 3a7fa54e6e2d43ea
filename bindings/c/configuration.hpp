#pragma once
/// Configurations in TOML for the C interface.
#include <string>
#include <string_view>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Returns the experiment of a TOML text whose traffic is replaced by the packets of a host program. `name`: name of
/// the text in messages. `folder`: folder of relative file names. ConfigError if the text is not valid.
Experiment hosted_experiment(std::string_view text, const std::string& name, const std::string& folder);

}  // namespace flitlab
