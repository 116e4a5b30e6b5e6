# The JSON Schema of scene files against the reader.
find_program(RIGOR_PYTHON python3 HINTS /usr/bin REQUIRED) # apt's, whose modules set-up installs
add_test(NAME test_scene_schema COMMAND ${RIGOR_PYTHON}
  ${CMAKE_CURRENT_LIST_DIR}/test_scene_schema.py
  ${PROJECT_SOURCE_DIR} $<TARGET_FILE:test_scene_keys>)
