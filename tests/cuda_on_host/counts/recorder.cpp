/// The compiler calls a function before each access to memory, as for its sanitizer of threads, and at the head of each
/// basic block, as for coverage. Here these write down what a thread does from barrier to barrier. Then the 32 threads
/// of a warp are laid side by side: what several do at the same place of the code, for the n-th time, they do together.
/// That is the best that a warp can do, since one that has parted meets again as soon as it can.
#include "tests/cuda_on_host/counts.hpp"
#include "tests/cuda_on_host/memory.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

enum class Kind : std::uint8_t { kLoad, kStore, kAtomic };

struct Access {
  const void* place;  ///< in the code
  std::uintptr_t address;
  std::uint8_t bytes;
  Kind kind;
};

struct Thread {
  std::vector<const void*> blocks;
  std::vector<Access> accesses;
};

constexpr std::size_t kWarp = 32, kSector = 32;

std::vector<Thread> threads;
Thread* runs = nullptr;
CudaOnHostCounts counts;
std::unordered_map<const void*, std::uint64_t> visits, last_visits;  ///< of warps, by basic block

/// What is not the device's are the thread's own variables and what it was given, which GPUs keep elsewhere.
void access(const void* place, const void* at, std::uint8_t bytes, Kind kind) {
  if (runs && cuda_on_host::is_on_device(at))
    runs->accesses.push_back({place, reinterpret_cast<std::uintptr_t>(at), bytes, kind});
}

/// A basic block, or an access for the n-th time, as lanes came to it.
void count_blocks(const std::vector<Thread*>& warp) {
  std::unordered_map<const void*, std::array<std::uint32_t, kWarp>> came;
  for (std::size_t lane = 0; lane < warp.size(); ++lane)
    for (const void* block : warp[lane]->blocks) ++came[block][lane];
  for (const auto& [block, of] : came) {
    for (std::uint32_t n : of) counts.lane_blocks += n;
    const std::uint32_t most = *std::max_element(of.begin(), of.end());
    counts.warp_blocks += most;
    visits[block] += most;
  }
}

struct Place {
  const void* code;
  std::uint32_t n;
  Kind kind;
  bool operator==(const Place&) const = default;
};
struct HashOfPlace {
  std::size_t operator()(const Place& p) const {
    return reinterpret_cast<std::uintptr_t>(p.code) * 0x9E3779B97F4A7C15ull + p.n * 3 +
           static_cast<std::size_t>(p.kind);
  }
};

void count_accesses(const std::vector<Thread*>& warp) {
  std::unordered_map<Place, std::unordered_set<std::uintptr_t>, HashOfPlace> together;
  for (Thread* thread : warp) {
    std::unordered_map<const void*, std::uint32_t> visits;
    for (const Access& a : thread->accesses) {
      auto& sectors = together[{a.place, visits[a.place]++, a.kind}];
      for (std::uintptr_t s = a.address / kSector; s <= (a.address + a.bytes - 1) / kSector; ++s) sectors.insert(s);
      if (a.kind == Kind::kAtomic) ++counts.atomics;
      if (a.kind == Kind::kLoad) ++counts.loads, counts.load_bytes += a.bytes;
      if (a.kind == Kind::kStore) ++counts.stores, counts.store_bytes += a.bytes;
    }
  }
  for (const auto& [place, sectors] : together) {
    if (place.kind == Kind::kLoad) ++counts.warp_loads, counts.load_sectors += sectors.size();
    if (place.kind == Kind::kStore) ++counts.warp_stores, counts.store_sectors += sectors.size();
  }
}

}  // namespace

extern "C" CudaOnHostCounts cuda_on_host_counts() {
  const CudaOnHostCounts result = counts;
  counts = {};
  last_visits = std::exchange(visits, {});
  return result;
}

extern "C" void cuda_on_host_visits(void (*show)(void*, std::uintptr_t, std::uint64_t), void* to) {
  Dl_info library;
  dladdr(&counts, &library);
  for (const auto& [block, warps] : last_visits)
    show(to, reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(library.dli_fbase), warps);
}

namespace cuda_on_host {

void count_launch(std::size_t number) {
  threads.clear();
  threads.resize(number);
}

void count_thread(std::size_t thread) { runs = &threads[thread]; }

void count_nobody() { runs = nullptr; }

void count_barrier(std::size_t first, std::size_t last, std::size_t block) {
  std::uint64_t longest = 0;
  for (std::size_t b = first; b < last; b += block)
    for (std::size_t w = b; w < std::min(b + block, last); w += kWarp) {
      std::vector<Thread*> warp;
      for (std::size_t i = w; i < std::min({w + kWarp, b + block, last}); ++i) warp.push_back(&threads[i]);
      count_blocks(warp);
      count_accesses(warp);
      for (Thread* thread : warp) {
        const auto is_load = [](const Access& a) { return a.kind == Kind::kLoad; };
        const auto& list = thread->accesses;
        longest = std::max<std::uint64_t>(longest, std::count_if(list.begin(), list.end(), is_load));
        thread->blocks.clear();
        thread->accesses.clear();
      }
    }
  counts.longest += longest;
}

}  // namespace cuda_on_host

// What the compiler calls. Names and meaning are those of its run-time libraries.
#define HERE __builtin_return_address(0)
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __sanitizer_cov_trace_pc() {
  if (runs) runs->blocks.push_back(HERE);
}
void __tsan_read_range(void* p, std::size_t n) { access(HERE, p, static_cast<std::uint8_t>(n), Kind::kLoad); }
void __tsan_write_range(void* p, std::size_t n) { access(HERE, p, static_cast<std::uint8_t>(n), Kind::kStore); }
void __tsan_vptr_update(void** p, void*) { access(HERE, p, 8, Kind::kStore); }
void __tsan_vptr_read(void** p) { access(HERE, p, 8, Kind::kLoad); }
#define ACCESS(n)                                                             \
  void __tsan_read##n(void* p) { access(HERE, p, n, Kind::kLoad); }           \
  void __tsan_write##n(void* p) { access(HERE, p, n, Kind::kStore); }         \
  void __tsan_unaligned_read##n(void* p) { access(HERE, p, n, Kind::kLoad); } \
  void __tsan_unaligned_write##n(void* p) { access(HERE, p, n, Kind::kStore); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
// An atomic update is a load and a store here: the store counts.
#define ATOMIC(bits)                                                                                        \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* p, int) { return *p; } \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* p, std::uint##bits##_t value, int) {       \
    access(HERE, const_cast<std::uint##bits##_t*>(p), bits / 8, Kind::kAtomic);                             \
    *p = value;                                                                                             \
  }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
}
