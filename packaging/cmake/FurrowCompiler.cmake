# Warnings, sanitizers, compiler cache and linker: everything about *how* we compile, in one interface target.
add_library(furrow_compiler INTERFACE)
if(MSVC)
  target_compile_options(furrow_compiler INTERFACE /W4 /permissive- /utf-8)
  target_compile_definitions(furrow_compiler INTERFACE NOMINMAX WIN32_LEAN_AND_MEAN _CRT_SECURE_NO_WARNINGS)
else()
  target_compile_options(furrow_compiler INTERFACE -Wall -Wextra -Wnon-virtual-dtor -Wshadow -Wno-missing-field-initializers)
  if(FURROW_WERROR)
    target_compile_options(furrow_compiler INTERFACE -Werror)
  endif()
endif()

# Only FILES (of the current folder) of TARGET see the headers in FOLDER. For all others nothing changes when a library does, and the compiler
# cache keeps what it has.
function(furrow_see_headers target folder)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES INCLUDE_DIRECTORIES ${folder})
endfunction()

set(FURROW_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
if(FURROW_SANITIZE)
  target_compile_options(furrow_compiler INTERFACE -fsanitize=${FURROW_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(furrow_compiler INTERFACE -fsanitize=${FURROW_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is cached by ccache only with these sloppinesses; objects are shared between build folders.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT WIN32 AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
