# Tests that are scripts, by what they are about.
include(scripts_meta.cmake)
include(scripts_scene.cmake)
include(scripts_record.cmake)
include(scripts_solve.cmake)
include(scripts_compare.cmake)
include(scripts_viewer.cmake)
include(scripts_view.cmake)
