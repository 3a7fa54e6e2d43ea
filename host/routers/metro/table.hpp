#pragma once
/// The parts of a METRO network's table that follow from the experiment. A delay or a size that is derived has a
/// function of its own. Delays in cycles.
#include "host/config/experiment.hpp"
#include "host/routers/metro/network.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab::metro {

/// Words that so many bits take.
u32 words_for(u32 bits, u32 word_bits);
/// The longest wire.
u32 longest_wire(const Experiment& e, const MetroNetwork& network);
/// The longest reply, words; 0: there are none.
u32 longest_reply(const Experiment& e);
/// Slots of mail, a power of two.
u32 mail_slots(const Table& t, u32 longest_wire);
/// First word of an attempt to the backward drop of the router of a stage that takes so many words to decide.
u32 back_drop_delay(const Table& t, const Experiment& e, u32 stage, u32 deciding_word);
/// Cycles after TURN in which an answer must have ended.
u32 patience(const Table& t, u32 longest_wire, u32 longest_reply);

/// Routers and their ports; `routers` counts cascaded ones. The tables point into the network.
void set_network(Table& t, const MetroNetwork& network, u32 routers);
/// What every router is built like.
void set_router(Table& t, const Experiment& e);
void set_endpoint(Table& t, const Experiment& e);
/// Words of a message's body beside its data; after routers and endpoints.
void set_words(Table& t);
/// ConfigError if messages or replies have no room for them.
void check_lengths(const Table& t, const Experiment& e);
/// Whether routers free connections at once, stage by stage.
void set_reclamation(std::vector<RouterSetup>& setup, const Experiment& e);

}  // namespace flitlab::metro
