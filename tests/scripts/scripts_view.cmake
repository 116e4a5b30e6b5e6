# Tests of `rigor view` that are scripts. The server runs in every configuration, so that the sanitizers
# see its threads come and go.
if(TARGET rigor-command)
  add_test(NAME test_view_server COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_view_server.py $<TARGET_FILE:rigor-command>)
  set_tests_properties(test_view_server PROPERTIES TIMEOUT 600 LABELS everywhere COST 60)
endif()
