# furrow::torch from a plain folder of headers and libraries: the pinned wheel, or FURROW_TORCH=DIR
# (a libtorch zip or another wheel's torch folder). find_package(Torch) is not used: its architecture
# probe fails with CMake 3.25 and nvcc 13, and it needs a CUDA toolkit.
set(FURROW_TORCH "$ENV{FURROW_TORCH}" CACHE PATH "A libtorch folder (include/ and lib/) instead of the pinned wheel")
set(torch_root ${FURROW_SITE}/torch)
if(FURROW_TORCH)
  set(torch_root ${FURROW_TORCH})
endif()
if(NOT EXISTS ${torch_root}/include/torch/csrc/api/include/torch/torch.h)
  message(FATAL_ERROR "No libtorch in '${torch_root}'. Run packaging/setup.sh, set FURROW_TORCH to a libtorch folder, "
                      "or configure with -DFURROW_BUILD_TRAIN=OFF.")
endif()
file(STRINGS ${torch_root}/include/torch/headeronly/version.h torch_version_lines
     REGEX "^#define TORCH_VERSION_(MAJOR|MINOR) [0-9]+$")
string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2" torch_version "${torch_version_lines}")
message(STATUS "libtorch ${torch_version} in ${torch_root}")

# What furrow-worker finds (core/libtorch): a build has the layout of an installation.
file(CREATE_LINK ${torch_root} ${CMAKE_BINARY_DIR}/torch SYMBOLIC)

add_library(furrow::torch INTERFACE IMPORTED)
target_include_directories(furrow::torch SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
target_link_options(furrow::torch INTERFACE -Wl,--no-as-needed) # kernels register themselves: no symbol asks for their library
function(furrow_link_torch target)
  foreach(lib ${ARGN})
    find_library(FURROW_LIB_${lib} ${lib} PATHS ${torch_root}/lib NO_DEFAULT_PATH NO_CACHE REQUIRED)
    target_link_libraries(${target} INTERFACE ${FURROW_LIB_${lib}})
  endforeach()
endfunction()
furrow_link_torch(furrow::torch torch_cpu c10) # not "torch", which loads the CUDA half

# furrow::torch_cuda, for the one library that needs it (core/cuda), where libtorch has a CUDA half and its headers are there.
get_filename_component(torch_site ${torch_root} DIRECTORY)
file(GLOB nvidia_includes ${torch_site}/nvidia/*/include)
find_path(NVTX_INCLUDE nvtx3/nvToolsExt.h PATHS ${nvidia_includes} NO_DEFAULT_PATH)
if(NVTX_INCLUDE)
  target_include_directories(furrow::torch SYSTEM INTERFACE ${NVTX_INCLUDE})
  target_compile_definitions(furrow::torch INTERFACE FURROW_HAS_NVTX=1)
endif()
if(EXISTS ${torch_root}/lib/libtorch_cuda.so AND nvidia_includes)
  add_library(furrow::torch_cuda INTERFACE IMPORTED)
  target_include_directories(furrow::torch_cuda SYSTEM INTERFACE ${nvidia_includes})
  target_link_libraries(furrow::torch_cuda INTERFACE furrow::torch)
  furrow_link_torch(furrow::torch_cuda torch_cuda c10_cuda)
  find_path(NCCL_INCLUDE nccl.h PATHS ${nvidia_includes} NO_DEFAULT_PATH)
  if(NCCL_INCLUDE)
    target_compile_definitions(furrow::torch_cuda INTERFACE USE_C10D_NCCL=1)
  endif()
endif()

find_path(GLOO_INCLUDE gloo/allreduce.h)
if(GLOO_INCLUDE)
  target_compile_definitions(furrow::torch INTERFACE USE_C10D_GLOO=1)
else()
  message(STATUS "No Gloo headers (libgloo-dev): built without data-parallel training")
endif()
