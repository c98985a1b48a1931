# Installs a build into a scratch prefix and starts what was installed: the programs find their libraries and resources there.
#   cmake -DBUILD=build/dev -DPREFIX=... -P check_install.cmake
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --strip OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(program furrowctl furrow)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH QT_QPA_PLATFORM=offscreen ${PREFIX}/bin/${program} --version
                  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${PREFIX}/bin/furrowctl doctor OUTPUT_VARIABLE said ERROR_QUIET)
foreach(expected "bundled text: ${PREFIX}/share/furrow" "lib/furrow/torch")
  if(NOT said MATCHES "${expected}")
    message(FATAL_ERROR "doctor of the installed program does not say '${expected}':\n${said}")
  endif()
endforeach()
# With libtorch linked to where doctor says, the worker starts too.
file(CREATE_LINK ${TORCH} ${PREFIX}/lib/furrow/torch SYMBOLIC)
execute_process(COMMAND ${PREFIX}/bin/furrow-worker --version OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
# And finds its library for GPUs, where one was built.
if(EXISTS ${PREFIX}/lib/furrow/libfurrow-cuda.so)
  execute_process(COMMAND ${PREFIX}/bin/furrow-worker --role task --task bench --preset char --device cuda:64 ERROR_VARIABLE said OUTPUT_QUIET)
  if(NOT said MATCHES "no device 'cuda:64' here. What there is: cpu")
    message(FATAL_ERROR "the installed worker does not load its library for GPUs:\n${said}")
  endif()
endif()
file(REMOVE_RECURSE ${PREFIX})
