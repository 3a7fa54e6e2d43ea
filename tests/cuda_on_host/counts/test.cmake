# The recorder, and kernels that it and the emulated device are tried on, without flitlab.
add_executable(flitlab_counts_tests tests/cuda_on_host/counts/recorder_test.cpp tests/cuda_on_host/warps/warp_test.cpp
               tests/cuda_on_host/counts/recorder.cpp tests/cuda_on_host/scheduler.cpp tests/cuda_on_host/memory.cpp
               tests/cuda_on_host/device.cpp
               tests/cuda_on_host/calls.cpp)
set_source_files_properties(tests/cuda_on_host/counts/recorder_test.cpp PROPERTIES COMPILE_OPTIONS
  "-O2;-fsanitize=thread;-fsanitize-coverage=trace-pc;--param=tsan-instrument-func-entry-exit=0;-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
set_source_files_properties(tests/cuda_on_host/warps/warp_test.cpp PROPERTIES COMPILE_OPTIONS
  "-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
target_compile_definitions(flitlab_counts_tests PRIVATE CUDA_ON_HOST_COUNTS)
target_compile_options(flitlab_counts_tests PRIVATE ${flitlab_warnings})
target_include_directories(flitlab_counts_tests BEFORE PRIVATE tests/cuda_on_host/include ${PROJECT_SOURCE_DIR})
target_link_libraries(flitlab_counts_tests PRIVATE GTest::gtest GTest::gtest_main Threads::Threads)
gtest_discover_tests(flitlab_counts_tests DISCOVERY_TIMEOUT 60)
