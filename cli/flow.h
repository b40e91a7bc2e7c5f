/// The actions of dre flow.
#pragma once

namespace dre::cli {

int fit_flow_action(int argc, char** argv);

}  // namespace dre::cli
