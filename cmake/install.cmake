# What `cmake --install` leaves, by component (library, dev, tools, python), and how other projects find it: find_package(rigor) with the targets
# rigor::rigor, rigor::rigor-io, rigor::rigor-view and rigor::rigor-lp, and pkg-config with modules of
# the same names.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(rigor_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rigor)
set(rigor_libraries rigor)
if(TARGET rigor-io)
  list(APPEND rigor_libraries rigor-io)
endif()
if(TARGET rigor-view)
  list(APPEND rigor_libraries rigor-view)
endif()
if(TARGET rigor-lp)
  list(APPEND rigor_libraries rigor-lp)
endif()

# One export set per library, so that a project that uses the core alone need not have what the
# others need.
foreach(library ${rigor_libraries})
  # Shared: they find each other wherever the prefix is.
  set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${library} EXPORT ${library}-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${library}-targets NAMESPACE rigor:: DESTINATION ${rigor_cmake_dir} COMPONENT dev)
endforeach()

set(rigor_headers_of_io rigor/scene.h rigor/recording.h rigor/problem_file.h rigor/view.h rigor/viewer.h rigor/study.h
  rigor/table.h)
set(rigor_headers_of_lp rigor/lp.h)
file(GLOB rigor_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/rigor/*.h ${PROJECT_SOURCE_DIR}/include/rigor/*.hpp)
if(NOT TARGET rigor-io)
  list(REMOVE_ITEM rigor_headers ${rigor_headers_of_io})
endif()
if(NOT TARGET rigor-lp)
  list(REMOVE_ITEM rigor_headers ${rigor_headers_of_lp})
endif()
list(TRANSFORM rigor_headers PREPEND ${PROJECT_SOURCE_DIR}/include/)
install(FILES ${rigor_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rigor COMPONENT dev)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rigorConfig.cmake.in
  ${PROJECT_BINARY_DIR}/rigorConfig.cmake INSTALL_DESTINATION ${rigor_cmake_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rigorConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rigorConfig.cmake ${PROJECT_BINARY_DIR}/rigorConfigVersion.cmake
  DESTINATION ${rigor_cmake_dir} COMPONENT dev)

# A static library does not bring its own needs, so they are part of what every user links; a shared
# one does, so they are private. `pkg-config --libs rigor` is right either way.
get_target_property(rigor_type rigor TYPE)
set(pc_core_modules qhull_r)
set(pc_core_libraries "-lm -pthread")
set(pc_io_modules "yaml-0.1 expat hdf5-serial zlib")
set(pc_lp_libraries "")
foreach(library ${CMAKE_DL_LIBS})
  string(APPEND pc_lp_libraries " -l${library}")
endforeach()
foreach(need core_modules core_libraries io_modules lp_libraries)
  if(rigor_type STREQUAL "SHARED_LIBRARY")
    set(pc_${need}_private ${pc_${need}})
    set(pc_${need} "")
  endif()
endforeach()
# Relative to the file itself, so that the prefix can be moved.
file(RELATIVE_PATH pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
foreach(library ${rigor_libraries})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT dev)
endforeach()

if(TARGET rigor-command)
  set_target_properties(rigor-command PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS rigor-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
install(FILES docs/rigor.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools OPTIONAL)
install(FILES docs/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/rigor COMPONENT tools OPTIONAL)
install(DIRECTORY scenes studies DESTINATION ${CMAKE_INSTALL_DATADIR}/rigor COMPONENT tools OPTIONAL)

# The Python package is installed from a wheel, or as a package of Debian, whose command is the one
# of the package rigor.
if(TARGET rigor-python-package)
  set(package ${PROJECT_BINARY_DIR}/python)
  file(MAKE_DIRECTORY ${package}/command)
  file(CREATE_LINK ../../../../bin/rigor ${package}/command/rigor-command SYMBOLIC)
  install(DIRECTORY ${package}/rigor/ DESTINATION lib/python3/dist-packages/rigor COMPONENT python
    EXCLUDE_FROM_ALL USE_SOURCE_PERMISSIONS PATTERN rigor-command EXCLUDE PATTERN __pycache__ EXCLUDE)
  install(FILES ${package}/command/rigor-command DESTINATION lib/python3/dist-packages/rigor
    COMPONENT python EXCLUDE_FROM_ALL)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
