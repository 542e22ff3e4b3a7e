# What the tests of a label run: a preset in which only these are run need not build the rest.
add_custom_target(fast_tests)
add_custom_target(root_tests)

# A folder is a layer: one static library that sees the headers of the layers it names, and no others.
#
#   layer(FOLDER placement DEPS api PURE)            target placement, namespace of headers "placement/..."
#   layer(FOLDER solo/rules DEPS api PURE)           target solo_rules
#   layer(FOLDER store DEPS json LINK SQLite::SQLite3)
#
# PURE adds a test that fails when the compiled library calls a clock, a file, a thread or the environment.
# Files named *_test.cpp are collected into the target <name>_test; *_host_test.cpp, which need root and a real
# machine, into <name>_host_test with the label "root".
function(layer)
  cmake_parse_arguments(L "PURE" "FOLDER" "DEPS;LINK;TEST_DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${L_FOLDER})
  set(folder ${CMAKE_SOURCE_DIR}/src/${L_FOLDER})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  # A folder inside this one that is a layer of its own brings its own CMakeLists entry.
  foreach(inner ${LAYER_FOLDERS})
    if(NOT inner STREQUAL L_FOLDER AND inner MATCHES "^${L_FOLDER}/")
      list(FILTER sources EXCLUDE REGEX "/src/${inner}/")
    endif()
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")  # the executable's own
  set(host_tests ${tests})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "_host_test\\.cpp$")
  list(FILTER host_tests INCLUDE REGEX "_host_test\\.cpp$")

  set(root ${CMAKE_BINARY_DIR}/include/${name})  # holds one link to src/<folder>, and nothing else
  cmake_path(GET L_FOLDER PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${folder} ${root}/${L_FOLDER} SYMBOLIC)

  list(TRANSFORM L_DEPS REPLACE "/" "_")
  list(TRANSFORM L_TEST_DEPS REPLACE "/" "_")
  if(NOT sources)  # headers only
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${root})
    target_link_libraries(${name} INTERFACE ${L_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${root})
  target_link_libraries(${name} PUBLIC ${L_DEPS} PRIVATE ${L_LINK})
  if(L_PURE)
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_std.hpp)
    add_test(NAME ${name}_is_pure COMMAND ${CMAKE_SOURCE_DIR}/tools/check_pure.sh $<TARGET_FILE:${name}>)
    set_tests_properties(${name}_is_pure PROPERTIES LABELS fast)
    add_dependencies(fast_tests ${name})
  else()
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_task.hpp)
  endif()

  foreach(kind test host_test)
    if(kind STREQUAL "test")
      set(files ${tests})
    else()
      set(files ${host_tests})
    endif()
    if(NOT files)
      continue()
    endif()
    add_executable(${name}_${kind} ${files})
    target_link_libraries(${name}_${kind} PRIVATE ${name} ${L_TEST_DEPS} GTest::gtest GTest::gtest_main)
    target_precompile_headers(${name}_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_test.hpp)
    add_test(NAME ${name}_${kind} COMMAND ${name}_${kind})
    if(kind STREQUAL "test")
      set_tests_properties(${name}_${kind} PROPERTIES LABELS fast)
      add_dependencies(fast_tests ${name}_${kind})
    else()
      set_tests_properties(${name}_${kind} PROPERTIES LABELS root RUN_SERIAL ON)
      add_dependencies(root_tests ${name}_${kind})
    endif()
  endforeach()
endfunction()
