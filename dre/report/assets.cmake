# What a report page carries in itself, as strings in C++: our style and script, and the chart library
# (Vega and Vega-Lite) from npm by the committed lock file. Where npm or its registry is out of reach,
# the library is built without charts: pages then show tables only, and say so.
option(DRE_REPORT_CHARTS "draw charts on report pages; fetches Vega from npm once" ON)

set(report_assets ${CMAKE_CURRENT_LIST_DIR}/assets)
set(report_modules ${CMAKE_CURRENT_BINARY_DIR}/report/node_modules)
set(report_libraries ${report_modules}/vega/build/vega.min.js
                     ${report_modules}/vega-lite/build/vega-lite.min.js)

function(dre_fetch_charts)
  foreach(library ${report_libraries})
    if(NOT EXISTS ${library})
      set(missing YES)
    endif()
  endforeach()
  find_program(DRE_NPM npm)
  if(NOT missing OR NOT DRE_NPM)
    return()
  endif()
  message(STATUS "fetching the chart library of report pages")
  file(COPY ${report_assets}/package.json ${report_assets}/package-lock.json
       DESTINATION ${CMAKE_CURRENT_BINARY_DIR}/report)
  # Few and short tries: a machine without a network should not wait.
  execute_process(COMMAND ${DRE_NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=0
                          --fetch-timeout=30000
                  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/report TIMEOUT 180
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
endfunction()

# Each licence of what is in the library once, with the names of the packages under it.
function(dre_chart_licences out)
  set(all "")
  file(GLOB folders ${report_modules}/vega* ${report_modules}/d3-* ${report_modules}/topojson-client
       ${report_modules}/delaunator ${report_modules}/internmap ${report_modules}/robust-predicates)
  foreach(folder ${folders})
    file(GLOB licence ${folder}/LICENSE*)
    get_filename_component(name ${folder} NAME)
    if(licence)
      file(READ ${licence} content)
      string(SHA1 hash "${content}")
      if(NOT DEFINED seen_${hash})
        set(seen_${hash} YES)
        string(APPEND all "${name}:\n${content}\n")
      endif()
    endif()
  endforeach()
  string(REPLACE "--" "- -" all "${all}")  # it will stand in an HTML comment
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# A function that returns the text.
function(dre_embed out name content)
  set(${out} "${${out}}\nstd::string_view ${name}() {\n  return R\"dre_asset(${content})dre_asset\";\n}\n"
      PARENT_SCOPE)
endfunction()

if(DRE_REPORT_CHARTS)
  dre_fetch_charts()
endif()
set(report_charts "")
set(report_licences "")
list(GET report_libraries 1 report_last)
if(DRE_REPORT_CHARTS AND EXISTS ${report_last})
  foreach(library ${report_libraries})
    file(READ ${library} content)
    string(APPEND report_charts "${content}\n")
  endforeach()
  dre_chart_licences(report_licences)
else()
  message(STATUS "report pages without charts: npm, or what it fetches, is not here")
endif()

set(report_source "// Made by assets.cmake.\n#include \"dre/report/assets.h\"\n\nnamespace dre::report {\n")
foreach(part style.css script.js)
  file(READ ${report_assets}/page_${part} content)
  string(REGEX REPLACE "\\..*" "" name ${part})
  dre_embed(report_source page_${name} "${content}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${report_assets}/page_${part})
endforeach()
dre_embed(report_source chart_library "${report_charts}")
dre_embed(report_source chart_licences "${report_licences}")
string(APPEND report_source "\n}  // namespace dre::report\n")
set(report_file ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp)
set(report_before "")
if(EXISTS ${report_file})
  file(READ ${report_file} report_before)
endif()
if(NOT report_before STREQUAL report_source)  # else nothing needs to be compiled anew
  file(WRITE ${report_file} "${report_source}")
endif()
target_sources(dre PRIVATE ${report_file})
