# Tests of `rigor compare`, `rigor converge`, `rigor bench` and of long analytic runs that are scripts.
if(TARGET rigor-command)
  add_test(NAME test_run_compare COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_run_compare.py $<TARGET_FILE:rigor-command> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_run_compare PROPERTIES TIMEOUT 600)
  add_test(NAME test_run_bench COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_run_bench.py $<TARGET_FILE:rigor-command>)
  set_tests_properties(test_run_bench PROPERTIES TIMEOUT 600)
  add_test(NAME test_run_agreement COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_run_agreement.py $<TARGET_FILE:rigor-command> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_run_agreement PROPERTIES TIMEOUT 300 LABELS slow)
  add_test(NAME test_run_rest COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_run_rest.py $<TARGET_FILE:rigor-command>)
  set_tests_properties(test_run_rest PROPERTIES TIMEOUT 300 LABELS slow)
endif()
