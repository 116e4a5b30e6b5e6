# Packages of Debian, one per component of cmake/install.cmake; tools/package makes them. What their
# programs link is found by dpkg-shlibdeps. Clp is loaded when a linear program is asked for, so that
# it is named by hand.
set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL library dev tools)
if(TARGET rigor-python-package)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_PACKAGE_NAME rigor)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the authors of rigor <rigor@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src ${PROJECT_BINARY_DIR}/viewer/server)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# package COMPONENT NAME SECTION DEPENDS DESCRIPTION
function(describe component name section depends description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${depends} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION ${description} PARENT_SCOPE)
endfunction()
set(same "(= ${PROJECT_VERSION})")
describe(library librigor${soname} libs "" "Rigid bodies that do not pass through each other: the libraries")
describe(dev librigor-dev libdevel
  "librigor${soname} ${same}, libqhull-dev, libyaml-dev, libexpat1-dev, libhdf5-dev, zlib1g-dev"
  "Rigid bodies that do not pass through each other: headers for C and C++")
describe(tools rigor science "librigor${soname} ${same}"
  "Rigid bodies that do not pass through each other: the command")
describe(python python3-rigor python "rigor ${same}, python3 (>= 3.11), python3-numpy"
  "Rigid bodies that do not pass through each other: the package for Python")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS coinor-libclp1)
include(CPack)
