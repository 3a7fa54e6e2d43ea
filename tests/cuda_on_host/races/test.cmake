# Tests of the emulated device's detection of races, without flitlab.
add_executable(flitlab_race_tests tests/cuda_on_host/races/race_test.cpp ${device_sources})
set_source_files_properties(tests/cuda_on_host/races/race_test.cpp PROPERTIES COMPILE_OPTIONS
  "-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
target_compile_options(flitlab_race_tests PRIVATE ${flitlab_warnings})
target_include_directories(flitlab_race_tests BEFORE PRIVATE tests/cuda_on_host/include ${PROJECT_SOURCE_DIR})
target_link_libraries(flitlab_race_tests PRIVATE flitlab_settings GTest::gtest GTest::gtest_main Threads::Threads)
gtest_discover_tests(flitlab_race_tests DISCOVERY_TIMEOUT 60)
