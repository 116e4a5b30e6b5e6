# rigor_view_page: the page of the viewer and the WebAssembly module as parts of the command
# (page_embedded.c). Looked for at every build, so that one that tools/page or tools/wasm makes later,
# or makes anew, finds its way in.
set(RIGOR_PAGE ${PROJECT_SOURCE_DIR}/build/page/index.html CACHE FILEPATH
  "The page of the viewer, one HTML file made by tools/page")
set(RIGOR_MODULE ${PROJECT_SOURCE_DIR}/build/wasm/rigor.wasm.gz CACHE FILEPATH
  "The library as a WebAssembly module, compressed, made by tools/wasm")
add_library(rigor_view_page STATIC ${CMAKE_CURRENT_LIST_DIR}/page_embedded.c)
target_include_directories(rigor_view_page PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(rigor_view_page PRIVATE rigor_compile)
file(GLOB page CONFIGURE_DEPENDS ${RIGOR_PAGE})
file(GLOB module CONFIGURE_DEPENDS ${RIGOR_MODULE})
set(embedded)
if(page)
  list(APPEND embedded RIGOR_PAGE_FILE="${page}")
else()
  message(STATUS "No page of the viewer at ${RIGOR_PAGE}: `rigor view` and `rigor export --html` will "
    "say so. tools/page makes it (needs Node 18 and npm).")
endif()
if(module)
  list(APPEND embedded RIGOR_MODULE_FILE="${module}")
else()
  message(STATUS "No WebAssembly module at ${RIGOR_MODULE}: `rigor export --html --live` will say so. "
    "tools/wasm makes it.")
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/page_embedded.c PROPERTIES
  OBJECT_DEPENDS "${page};${module}" COMPILE_DEFINITIONS "${embedded}")
