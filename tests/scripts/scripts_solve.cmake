# Without the folder of problems beside the checkout, this extra has nothing to do.
set_tests_properties(test_run_problems PROPERTIES SKIP_RETURN_CODE 77)

# Tests of `rigor solve` that are scripts.
if(TARGET rigor-command)
  add_test(NAME test_run_solve COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_run_solve.py
    $<TARGET_FILE:rigor-command>)
  set_tests_properties(test_run_solve PROPERTIES TIMEOUT 600)
  add_test(NAME test_run_memory COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_run_memory.py $<TARGET_FILE:rigor-command>)
  add_test(NAME test_readme_problem_files COMMAND ${RIGOR_PYTHON}
    ${CMAKE_CURRENT_LIST_DIR}/test_readme.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER} docs/problem-files.md)
endif()
