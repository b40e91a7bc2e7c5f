# Installs the build into a folder of its own, builds the consumer against it, and runs both the
# consumer and the installed tool. Variables: build, config, generator, compiler, flags, torch.
set(work ${build}/tests/consumer)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

macro(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

run(${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${generator}
    -D CMAKE_BUILD_TYPE=${config} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags}
    -D CMAKE_PREFIX_PATH=${prefix} -D Torch_DIR=${torch})
run(${CMAKE_COMMAND} --build ${work}/build --config ${config})
run(${work}/build/consumer ${work}/model.safetensors)
if(EXISTS ${build}/bin/dre)
  run(${prefix}/bin/dre --version)
endif()
