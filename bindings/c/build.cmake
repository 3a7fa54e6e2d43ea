# The C interface: a shared library, its header, a CMake package and a pkg-config file. They are installed with
# `cmake --install BUILD --component c`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(flitlab_c SHARED bindings/c/flitlab.cpp bindings/c/configuration.cpp)
add_library(flitlab::flitlab ALIAS flitlab_c)
target_link_libraries(flitlab_c PRIVATE flitlab_core)
target_include_directories(flitlab_c SYSTEM PRIVATE ${FLITLAB_TOML_HEADERS})
target_include_directories(flitlab_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/c>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(flitlab_c PRIVATE ${flitlab_warnings} $<$<CONFIG:Release>:-O1>)
set_target_properties(flitlab_c PROPERTIES OUTPUT_NAME flitlab EXPORT_NAME flitlab SOVERSION 1 VERSION 1.0
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
if(NOT APPLE)  # export only the functions of flitlab.h
  target_link_options(flitlab_c PRIVATE -Wl,--exclude-libs,ALL
                      -Wl,--version-script=${PROJECT_SOURCE_DIR}/bindings/c/exported.map)
  set_target_properties(flitlab_c PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/c/exported.map)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/flitlab)
file(RELATIVE_PATH FLITLAB_UP_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(bindings/c/flitlab.pc.in flitlab.pc @ONLY)
write_basic_package_version_file(flitlab-config-version.cmake VERSION ${PROJECT_VERSION}
                                 COMPATIBILITY SameMinorVersion)
# Not by a plain `cmake --install`, which installs the Python package.
set(optional COMPONENT c EXCLUDE_FROM_ALL)
install(TARGETS flitlab_c EXPORT flitlab LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c EXCLUDE_FROM_ALL)
install(FILES bindings/c/flitlab.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${optional})
install(EXPORT flitlab NAMESPACE flitlab:: FILE flitlab-config.cmake DESTINATION ${package} ${optional})
install(FILES ${PROJECT_BINARY_DIR}/flitlab-config-version.cmake DESTINATION ${package} ${optional})
install(FILES ${PROJECT_BINARY_DIR}/flitlab.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${optional})
