# Tests of the emulated device itself, without flitlab.
add_executable(flitlab_warp_tests tests/cuda_on_host/warps/warp_test.cpp tests/cuda_on_host/scheduler.cpp
               tests/cuda_on_host/memory.cpp tests/cuda_on_host/device.cpp tests/cuda_on_host/calls.cpp
               tests/cuda_on_host/divergence.cpp)
set_source_files_properties(tests/cuda_on_host/warps/warp_test.cpp PROPERTIES COMPILE_OPTIONS
  "-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
target_compile_options(flitlab_warp_tests PRIVATE ${flitlab_warnings})
target_include_directories(flitlab_warp_tests BEFORE PRIVATE tests/cuda_on_host/include ${PROJECT_SOURCE_DIR})
target_link_libraries(flitlab_warp_tests PRIVATE GTest::gtest GTest::gtest_main Threads::Threads)
gtest_discover_tests(flitlab_warp_tests DISCOVERY_TIMEOUT 60)
