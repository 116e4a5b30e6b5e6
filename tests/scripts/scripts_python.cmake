# The Python package. Its tests need Debian's python3 with numpy, pip and venv.
find_program(RIGOR_PYTHON python3 HINTS /usr/bin REQUIRED)
if(TARGET rigor-python-package)
  if(NOT RIGOR_SANITIZE) # an interpreter without sanitizers cannot load a library that has them
    add_test(NAME test_python COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_python.py
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
    add_test(NAME test_python_copies COMMAND ${RIGOR_PYTHON} -B
      ${CMAKE_CURRENT_LIST_DIR}/test_python_copies.py ${PROJECT_BINARY_DIR})
    set_tests_properties(test_python_copies PROPERTIES COST 20)
    add_test(NAME test_python_examples COMMAND ${RIGOR_PYTHON} -B
      ${CMAKE_CURRENT_LIST_DIR}/test_python_examples.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    add_test(NAME test_python_wheel COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_python_wheel.sh
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${RIGOR_PYTHON})
    set_tests_properties(test_python_wheel PROPERTIES COST 20 LABELS slow)
  endif()
  add_test(NAME test_python_random COMMAND ${RIGOR_PYTHON} -B
    ${CMAKE_CURRENT_LIST_DIR}/test_python_random.py ${PROJECT_BINARY_DIR})
  set_tests_properties(test_python_random PROPERTIES LABELS everywhere)
endif()
# Robot descriptions, read through the package.
if(TARGET rigor-python-package AND NOT RIGOR_SANITIZE)
  add_test(NAME test_robot COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_robot.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(test_robot PROPERTIES COST 60 LABELS slow)
endif()
