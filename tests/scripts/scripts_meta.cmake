# Script tests about the repository itself: layers, order, package, README. They run once, in the
# configuration `test`; a script that should run in every one says LABELS everywhere. LABELS slow:
# `./test --quick` leaves it out, and says so.
find_program(RIGOR_PYTHON python3 HINTS /usr/bin REQUIRED) # apt's, whose modules set-up installs

set(lp_library)
if(TARGET rigor-lp)
  set(lp_library $<TARGET_FILE:rigor-lp>)
endif()
add_test(NAME test_layers COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_layers.py
  ${PROJECT_SOURCE_DIR} $<TARGET_FILE:rigor> $<TARGET_FILE:rigor-io> ${lp_library})
add_test(NAME test_tree COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_tree.py
  ${PROJECT_SOURCE_DIR})
add_test(NAME test_claims COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_claims.py
  ${PROJECT_SOURCE_DIR})
add_test(NAME test_tally COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_tally.py
  ${PROJECT_SOURCE_DIR})
add_test(NAME test_setup COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_setup.sh ${PROJECT_SOURCE_DIR})
add_test(NAME test_page COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_page.sh ${PROJECT_SOURCE_DIR})
add_test(NAME test_package COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_package.sh
  ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
add_test(NAME test_readme COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_readme.py
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
foreach(page api solvers stepping analytic analytic-tuning analytic-benchmark compare gallery guide penalty shapes sweep extending
    adding-a-shape tasks)
  add_test(NAME test_readme_${page} COMMAND ${RIGOR_PYTHON}
    ${CMAKE_CURRENT_LIST_DIR}/test_readme.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER} docs/${page}.md)
endforeach()
# The library with one shape more, built from its sources as docs/adding-a-shape.md says.
add_test(NAME test_add_shape COMMAND ${RIGOR_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_add_shape.py
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
set_tests_properties(test_add_shape PROPERTIES LABELS slow TIMEOUT 1500 COST 90 PROCESSORS 2)
set_tests_properties(test_readme_analytic test_readme_analytic-tuning test_readme_analytic-benchmark
  PROPERTIES LABELS slow)
add_test(NAME test_site COMMAND ${RIGOR_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_site.py
  ${PROJECT_SOURCE_DIR})
set_tests_properties(test_site PROPERTIES LABELS slow)
add_test(NAME test_arm64 COMMAND ${CMAKE_CURRENT_LIST_DIR}/test_arm64.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(test_arm64 PROPERTIES LABELS slow TIMEOUT 14400 COST 200 PROCESSORS 2)
# What ./reproduce makes in seconds; all of it takes minutes.
add_test(NAME test_reproduce COMMAND ${RIGOR_PYTHON} -B ${PROJECT_SOURCE_DIR}/tools/reproduce.py
  $<TARGET_FILE:rigor-command> ${PROJECT_BINARY_DIR} figures-7-9 figures-11-13 friction painleve detection
  penalty gammas particle figure-5 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
# Start the long one first.
set_tests_properties(test_package PROPERTIES COST 100 LABELS slow)
