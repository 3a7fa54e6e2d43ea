/// Functions that the thread sanitizer calls at accesses to volatile data. They are empty: threads are meant to share
/// the volatile data of kernels, so these accesses are no races.
extern "C" {
#define ACCESS(bytes)                                  \
  void __tsan_volatile_read##bytes(void*) {}           \
  void __tsan_volatile_write##bytes(void*) {}          \
  void __tsan_unaligned_volatile_read##bytes(void*) {} \
  void __tsan_unaligned_volatile_write##bytes(void*) {}
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
}
