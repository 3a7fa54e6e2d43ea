#pragma once
/// Functions that compute the parameters of a METRO network (struct Table: wiring, sizes, delays) from the experiment.
/// Delays are in cycles.
#include "host/config/experiment.hpp"
#include "host/routers/metro/network.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab::metro {

/// Returns the number of words of `word_bits` bits that are needed for `bits` bits.
u32 words_for(u32 bits, u32 word_bits);
/// Returns the delay of the wire with the largest delay.
u32 longest_wire(const Experiment& e, const MetroNetwork& network);
/// Returns the length of the longest reply, words; 0 if there are no replies.
u32 longest_reply(const Experiment& e);
/// Returns the number of inbox slots, a power of two.
u32 inbox_slots(const Table& t, u32 longest_wire);
/// Returns the delay at a source from the first word of an attempt to the backward control bit of a router that blocks
/// the attempt. `stage`: stage of the router. `deciding_word`: header word with which that router chooses the port.
u32 back_drop_delay(const Table& t, const Experiment& e, u32 stage, u32 deciding_word);
/// Returns the number of cycles after TURN within which the answer must end.
u32 answer_timeout(const Table& t, u32 longest_wire, u32 longest_reply);

/// Sets sizes and wiring. `routers`: number of routers, in which each slice counts. The table points into the network.
void set_network(Table& t, const MetroNetwork& network, u32 routers);
/// Sets the parameters of the routers.
void set_router(Table& t, const Experiment& e);
/// Sets the parameters of the endpoints.
void set_endpoint(Table& t, const Experiment& e);
/// Sets the numbers of words in a message's body that are not data. Call it after set_router() and set_endpoint().
void set_words(Table& t);
/// Throws ConfigError if a message or reply is shorter than these words require.
void check_lengths(const Table& t, const Experiment& e);
/// Sets the kind of path reclamation, fast or detailed, for each stage.
void set_reclamation(std::vector<RouterSetup>& setup, const Experiment& e);

}  // namespace flitlab::metro
