/// The sanitizer of threads calls these for accesses to volatile data. What is volatile in a kernel is meant to be read
/// and written by several threads at a time: there is nothing to find.
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
