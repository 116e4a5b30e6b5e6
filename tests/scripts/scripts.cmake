# Tests that are scripts, by what they are about.
include(${CMAKE_CURRENT_LIST_DIR}/scripts_meta.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_scene.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_record.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_solve.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_compare.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_viewer.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_view.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/scripts_python.cmake)
