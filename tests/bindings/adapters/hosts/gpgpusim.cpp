/// A host with the calls that GPGPU-Sim makes to its network: function pointers as in its wrapper, shaders that send
/// requests, and memories that answer them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <vector>

#include "intersim2/globals.hpp"
#include "intersim2/interconnect_interface.hpp"
#include "say.hpp"

namespace {

bool (*icnt_has_buffer)(unsigned input, unsigned size);
void (*icnt_push)(unsigned input, unsigned output, void* data, unsigned size);
void* (*icnt_pop)(unsigned output);
void (*icnt_transfer)();
bool (*icnt_busy)();

void create(const char* config, unsigned shaders, unsigned memories) {
  delete g_icnt_interface;
  g_icnt_interface = nullptr;
  g_icnt_interface = InterconnectInterface::New(config);
  icnt_has_buffer = [](unsigned input, unsigned size) { return g_icnt_interface->HasBuffer(input, size); };
  icnt_push = [](unsigned input, unsigned output, void* data, unsigned size) {
    g_icnt_interface->Push(input, output, data, size);
  };
  icnt_pop = [](unsigned output) { return g_icnt_interface->Pop(output); };
  icnt_transfer = [] { g_icnt_interface->Advance(); };
  icnt_busy = [] { return g_icnt_interface->Busy(); };
  g_icnt_interface->CreateInterconnect(shaders, memories);
  g_icnt_interface->Init();
}

constexpr unsigned kRequestBytes = 8, kReplyBytes = 136;

struct Fetch {
  int cycle;  ///< earliest cycle of the request
  unsigned shader, memory;
  int requested, at_memory, replied, done;
};

/// Reads "cycle shader memory", by rising cycle of each shader. Prints for each access the terminals of shader and
/// memory, and the cycles in which the request was pushed and arrived, and the reply was pushed and arrived.
void run(unsigned shaders, unsigned memories) {
  std::vector<Fetch> fetches;
  for (Fetch f{}; std::scanf("%d %u %u", &f.cycle, &f.shader, &f.memory) == 3;) fetches.push_back(f);
  std::vector<std::deque<Fetch*>> requests(shaders), replies(memories);
  for (Fetch& f : fetches) requests.at(f.shader).push_back(&f);
  size_t left = fetches.size();
  while (left || icnt_busy()) {
    const int now = g_icnt_interface->GetIcntTime();
    for (unsigned m = 0; m < memories; ++m)
      for (auto& q = replies[m]; !q.empty() && icnt_has_buffer(shaders + m, kReplyBytes); q.pop_front()) {
        q.front()->replied = now;
        icnt_push(shaders + m, q.front()->shader, q.front(), kReplyBytes);
      }
    for (auto& q : requests)
      for (; !q.empty() && q.front()->cycle <= now && icnt_has_buffer(q.front()->shader, kRequestBytes);
           q.pop_front()) {
        q.front()->requested = now;
        icnt_push(q.front()->shader, shaders + q.front()->memory, q.front(), kRequestBytes);
      }
    icnt_transfer();
    for (unsigned m = 0; m < memories; ++m)
      while (auto* f = static_cast<Fetch*>(icnt_pop(shaders + m))) {
        if (f->memory != m || f->at_memory) std::abort();
        f->at_memory = now;
        replies[m].push_back(f);
      }
    for (unsigned s = 0; s < shaders; ++s)
      while (auto* f = static_cast<Fetch*>(icnt_pop(s))) {
        if (f->shader != s || !f->at_memory || f->done) std::abort();
        f->done = now;
        --left;
      }
  }
  for (const Fetch& f : fetches)
    std::printf("%u %u %d %d %d %d\n", g_icnt_interface->Terminal(f.shader),
                g_icnt_interface->Terminal(shaders + f.memory), f.requested, f.at_memory, f.replied, f.done);
  g_icnt_interface->DisplayStats();
  g_icnt_interface->Init();
  g_icnt_interface->DisplayStats();
  g_icnt_interface->DisplayOverallStats();
  g_icnt_interface->DisplayState(stdout);
}

void errors(const char* config) {
  int data = 0;
  say("no name", [] { delete InterconnectInterface::New(nullptr); });
  say("map", [=] { create(config, 11, 5); });
  say("no memories", [=] { create(config, 16, 0); });
  say("too many", [=] { create(config, 13, 4); });
  delete g_icnt_interface;
  g_icnt_interface = InterconnectInterface::New(config);
  say("early", [&] { icnt_push(0, 1, &data, 8); });
  say("early transfer", [] { icnt_transfer(); });
  say("create", [=] { create(config, 12, 4); });
  say("again", [] { g_icnt_interface->CreateInterconnect(12, 4); });
  say("device", [] { (void)icnt_has_buffer(16, 8); });
  say("pop", [] { (void)icnt_pop(16); });
  say("nothing", [] { std::printf("pop returns %p\n", icnt_pop(3)); });
  say("no data", [] { icnt_push(0, 12, nullptr, 8); });
  say("size", [&] { icnt_push(0, 12, &data, 0); });
  say("long", [&] { icnt_push(0, 12, &data, 32 * 10); });
  for (int i = 0; i < 9; ++i) icnt_push(0, 12, &data, 32);
  say("full", [&] { icnt_push(0, 12, &data, 8); });
  std::printf("flit: %u bytes\n", g_icnt_interface->GetFlitSize());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !std::strcmp(argv[1], "errors")) errors(argv[2]);
  if (argc == 4) {
    const auto shaders = static_cast<unsigned>(std::atoi(argv[2])),
               memories = static_cast<unsigned>(std::atoi(argv[3]));
    create(argv[1], shaders, memories);
    run(shaders, memories);
  }
  delete g_icnt_interface;
  return 0;
}
