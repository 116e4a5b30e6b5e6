# Tests of `rigor view` that are scripts. The server runs under the sanitizers, too, so that they see
# its threads come and go; another compiler shows nothing more.
if(TARGET rigor-command)
  add_test(NAME test_view_server COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_view_server.py $<TARGET_FILE:rigor-command>)
  set_tests_properties(test_view_server PROPERTIES TIMEOUT 600 COST 60)
  if(RIGOR_SANITIZE)
    set_tests_properties(test_view_server PROPERTIES LABELS everywhere)
  endif()
endif()
