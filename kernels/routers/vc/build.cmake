target_sources(flitlab_core PRIVATE kernels/routers/vc/lanes/choose.cpp)
set_source_files_properties(kernels/routers/vc/lanes/choose.cpp PROPERTIES UNITY_GROUP base)

# Lanes: one library per vector width, chosen at run time for the processor. -O3 unrolls the
# loops over ports and channels, so that vectors stay in registers.
function(add_lanes name width)
  add_library(flitlab_lanes_${name} OBJECT kernels/routers/vc/lanes/unit.cpp)
  target_link_libraries(flitlab_lanes_${name} PRIVATE flitlab_settings)
  target_compile_definitions(flitlab_lanes_${name} PRIVATE FLITLAB_LANES=${width} flitlab=flitlab_lanes_${name}
                             FLITLAB_LANES_NAME=flitlab_vc_lanes_${name})
  # GCC takes values of ports beyond a router's last one, which no loop reads, for uninitialised ones.
  target_compile_options(flitlab_lanes_${name} PRIVATE ${flitlab_warnings} -fno-tree-vectorize -Wno-psabi
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> ${ARGN})
  if(FLITLAB_SANITIZE)  # compiles in a third of the time, and these tests hardly run longer
    target_compile_options(flitlab_lanes_${name} PRIVATE -O0)
  endif()
  target_sources(flitlab_core PRIVATE $<TARGET_OBJECTS:flitlab_lanes_${name}>)
endfunction()

add_lanes(16 16 $<$<CONFIG:Release>:-O3>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT FLITLAB_GENERAL_ENGINES)
  target_compile_definitions(flitlab_core PRIVATE FLITLAB_WIDE_LANES)
  add_lanes(32 32 -march=x86-64-v3 $<$<CONFIG:Release>:-O3>)
  add_lanes(64 64 -march=x86-64-v4 $<$<CONFIG:Release>:-O3>)
endif()
if(FLITLAB_TESTS AND NOT FLITLAB_GENERAL_ENGINES)
  # Tests run the widest lanes on any processor. Without 64-byte registers they are slow to compile and to run.
  if(NOT CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceRuns)
    check_cxx_source_runs("
      int main() { return !(__builtin_cpu_supports(\"avx512bw\") && __builtin_cpu_supports(\"avx512vl\")); }"
      FLITLAB_HAS_WIDEST_LANES)
  endif()
  if(NOT FLITLAB_HAS_WIDEST_LANES)
    target_compile_definitions(flitlab_core PRIVATE FLITLAB_SLOW_LANES)
    add_lanes(64_for_tests 64 $<$<CONFIG:Release>:-O1>)
  endif()
endif()
