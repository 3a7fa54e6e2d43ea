/// Functions that the thread sanitizer calls for accesses to volatile data. They are empty: volatile data of kernels is
/// meant to be shared by threads, so it has no races to report.
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
