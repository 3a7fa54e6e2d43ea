# FLITLAB_CUDA=HOST: the CUDA engine for a device that the host emulates (README.md). Its inline functions are other ones
# than those of the CPU engines, so that it is a library which shows nothing of itself but how engines are made.
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS kernels/*.cu)
set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS
  # What only CPUs do, as prefetching, leaves parameters without a use.
  "-x;c++;-Wno-unused-parameter;-include;${PROJECT_SOURCE_DIR}/tests/cuda_on_host/include/cuda_runtime.h")
file(GLOB device_sources CONFIGURE_DEPENDS tests/cuda_on_host/*.cpp)
if(FLITLAB_SANITIZE MATCHES "thread")  # a race is one of kernels; what is volatile is shared on purpose
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
