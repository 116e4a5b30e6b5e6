# Tests of the viewer: what its page does without a browser (viewer/page/test) and in one (viewer/tests),
# run by Node. They are skipped, and say so, where there is no Node, no Chromium, or what tools/page
# fetches is missing.
find_program(RIGOR_NODE node)
if(RIGOR_NODE)
  add_test(NAME test_viewer_page WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/viewer/page COMMAND sh -c
    "[ -d node_modules/vite ] || { echo skipped: tools/page has not fetched Vite; exit 77; }
    exec '${RIGOR_NODE}' --test test/page.test.mjs test/ui.test.mjs")
  set_tests_properties(test_viewer_page PROPERTIES SKIP_RETURN_CODE 77)
endif()
if(TARGET rigor-command)
  if(RIGOR_NODE) # the library as WebAssembly, as a package of npm
    add_test(NAME test_wasm_closed COMMAND ${RIGOR_NODE} ${PROJECT_SOURCE_DIR}/wasm/tests/test_closed.mjs)
    add_test(NAME test_wasm_node COMMAND ${RIGOR_NODE} ${PROJECT_SOURCE_DIR}/wasm/tests/test_node.mjs
      $<TARGET_FILE:rigor-command>)
    set_tests_properties(test_wasm_node PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS slow)
  endif()
  foreach(name replay tools live export play)
    set(folder viewer)
    if(name STREQUAL play)
      set(folder wasm)
    endif()
    if(RIGOR_NODE)
      add_test(NAME test_viewer_${name} COMMAND ${RIGOR_NODE}
        ${PROJECT_SOURCE_DIR}/${folder}/tests/test_${name}.mjs $<TARGET_FILE:rigor-command>)
    else()
      add_test(NAME test_viewer_${name} COMMAND sh -c "echo skipped: no Node; exit 77")
    endif()
    # Drawing without a GPU takes all that there is.
    set_tests_properties(test_viewer_${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 PROCESSORS 2
      COST 80 LABELS slow)
  endforeach()
  foreach(page viewer view export)
    add_test(NAME test_readme_${page} COMMAND ${RIGOR_PYTHON}
      ${CMAKE_CURRENT_LIST_DIR}/test_readme.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      ${CMAKE_C_COMPILER} docs/${page}.md)
    set_tests_properties(test_readme_${page} PROPERTIES LABELS slow)
  endforeach()
endif()
