# find_package(sotto COMPONENTS …), pkg-config and the Debian package.
get_property(SOTTO_MODULES GLOBAL PROPERTY SOTTO_MODULES)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sottoConfig.cmake.in
  ${PROJECT_BINARY_DIR}/sottoConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sottoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sottoConfig.cmake ${PROJECT_BINARY_DIR}/sottoConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto COMPONENT dev)

# Static archives must be named from the highest layer down.
set(sotto_pc_libs "")
foreach(module IN LISTS SOTTO_MODULES)
  string(PREPEND sotto_pc_libs "-lsotto_${module} ")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/sotto.pc.in ${PROJECT_BINARY_DIR}/sotto.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sotto.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Sotto developers")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
