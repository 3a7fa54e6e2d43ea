# Core of the web page: WebAssembly, and the JavaScript that loads it into a worker (bindings/page/build.py).
file(GLOB page_sources CONFIGURE_DEPENDS bindings/page/*.cpp bindings/frames/*.cpp)
add_executable(flitlab_page ${page_sources})
target_link_libraries(flitlab_page PRIVATE flitlab_core)
target_compile_options(flitlab_page PRIVATE ${flitlab_warnings})
# A page cannot read files: files that a configuration names are passed as text. The stack is large because bulk phases
# keep many nodes on it.
target_link_options(flitlab_page PRIVATE --bind -O2 -sMODULARIZE -sEXPORT_NAME=flitlab_core -sENVIRONMENT=worker,node
                    -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=64MB -sTOTAL_STACK=4MB)
