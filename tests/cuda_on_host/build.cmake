# FLITLAB_CUDA=HOST: the CUDA engine on an emulated device (README.md). Its inline functions differ from the functions
# of the CPU engines under the same names, so it is a shared library that exports only the functions that make engines.
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS kernels/*.cu)
set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS
  # Parameters of CPU-only code, such as prefetching, are unused.
  "-x;c++;-Wno-unused-parameter;-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
if(FLITLAB_DIVERGENCE)  # divergence.hpp
  set_property(SOURCE ${cuda_sources} APPEND PROPERTY COMPILE_OPTIONS -fsanitize-coverage=trace-pc)
endif()
file(GLOB device_sources CONFIGURE_DEPENDS tests/cuda_on_host/*.cpp)
if(FLITLAB_SANITIZE MATCHES "thread")  # report races of kernels only, except races on volatile data
  set_property(SOURCE ${cuda_sources} APPEND PROPERTY COMPILE_OPTIONS --param=tsan-distinguish-volatile=1)
  set_source_files_properties(${device_sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread
                              COMPILE_DEFINITIONS CUDA_ON_HOST_RACES)
endif()
add_library(flitlab_cuda_on_host SHARED ${cuda_sources} ${device_sources} kernels/engines/state_layout.cpp)
target_link_libraries(flitlab_cuda_on_host PRIVATE flitlab_settings)
target_include_directories(flitlab_cuda_on_host BEFORE PRIVATE tests/cuda_on_host/include)
target_compile_options(flitlab_cuda_on_host PRIVATE ${flitlab_warnings} $<$<CONFIG:Release>:-O1>)
target_compile_definitions(flitlab_cuda_on_host PRIVATE FLITLAB_MAY_BE_SLOW)
target_link_options(flitlab_cuda_on_host PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/tests/cuda_on_host/exports.map)
set_target_properties(flitlab_cuda_on_host PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda_on_host/exports.map)
target_link_libraries(flitlab_core PUBLIC flitlab_cuda_on_host)
