# The core for a page: WebAssembly, and the JavaScript that loads it into a worker (bindings/page/build.py).
file(GLOB page_sources CONFIGURE_DEPENDS bindings/page/*.cpp bindings/frames/*.cpp)
add_executable(flitlab_page ${page_sources})
target_link_libraries(flitlab_page PRIVATE flitlab_core)
target_compile_options(flitlab_page PRIVATE ${flitlab_warnings})
# A page reads no files: what a configuration names is handed over as text. Stacks hold batches of nodes.
target_link_options(flitlab_page PRIVATE --bind -O2 -sMODULARIZE -sEXPORT_NAME=flitlab_core -sENVIRONMENT=worker,node
                    -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=64MB -sTOTAL_STACK=4MB)
