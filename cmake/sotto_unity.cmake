# sotto_unity(target [TESTS]): the files of one folder are compiled a few at a time as one text. Most of a file's cost is
# code of library templates (JSON, formatting, containers) that each file makes anew; together they make it once, and a build
# from nothing takes a third of the time. Names in anonymous namespaces must therefore differ within a folder. TESTS: folders
# do not matter, because each test file has a namespace of its own, named after the file.
# Files with compile options of their own stay alone. The preset fuzz builds without, so that each file also compiles by
# itself; turn it off when working on one file for long: cmake -DSOTTO_UNITY=OFF.
option(SOTTO_UNITY "Compile the files of a folder together" ON)
set(SOTTO_UNITY_FILES 16 CACHE STRING "At most so many of them")
mark_as_advanced(SOTTO_UNITY_FILES)

function(sotto_unity target)
  if(NOT SOTTO_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(folders "")
  foreach(source IN LISTS sources)
    get_source_file_property(group ${source} UNITY_GROUP)
    if(group OR source MATCHES "^\\$<")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    if("TESTS" IN_LIST ARGN)
      set(folder "")
    endif()
    string(MAKE_C_IDENTIFIER "f_${folder}" folder)
    if(NOT folder IN_LIST folders)
      list(APPEND folders ${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR place "${count_${folder}} / ${SOTTO_UNITY_FILES}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${place})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes an included file for a header, where a type with members of unnamed types would be wrong.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
