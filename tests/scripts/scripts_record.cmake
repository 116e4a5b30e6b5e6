# Tests of recordings and of the command that are scripts. They need Debian's python3 with h5py and
# numpy (python3-h5py), not some other python3 that comes first on the path.
find_program(RIGOR_PYTHON python3 HINTS /usr/bin REQUIRED)
if(TARGET rigor-command)
  foreach(name test_run_cli test_run_words test_run_terminal test_run_kill test_record_h5py test_record_export)
    add_test(NAME ${name} COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/${name}.py
      $<TARGET_FILE:rigor-command>)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  endforeach()
  add_test(NAME test_run_files COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_run_files.py
    $<TARGET_FILE:rigor-command> ${PROJECT_SOURCE_DIR})
  add_test(NAME test_run_meshes COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_run_meshes.py
    $<TARGET_FILE:rigor-command> ${PROJECT_SOURCE_DIR}/tests/data/meshes)
  set_tests_properties(test_run_meshes PROPERTIES TIMEOUT 600)
  add_test(NAME test_run_sweep COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_run_sweep.py
    $<TARGET_FILE:rigor-command> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_run_sweep PROPERTIES TIMEOUT 600 COST 20)
  if(TARGET rigor-mpi) # test_programs.py sees to it that there is an MPI
    add_test(NAME test_run_mpi COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_run_mpi.py
      $<TARGET_FILE:rigor-command>)
    set_tests_properties(test_run_mpi PROPERTIES TIMEOUT 900 COST 40)
  endif()
  set_tests_properties(test_run_kill PROPERTIES COST 90 LABELS slow)
  set_tests_properties(test_run_cli PROPERTIES COST 20)
  set_tests_properties(test_record_export PROPERTIES COST 20 LABELS slow)
endif()
