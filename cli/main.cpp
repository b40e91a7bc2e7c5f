#include <iostream>

#include "dre/base/version.h"

int main() {
  std::cout << "dre " << dre::version() << '\n';
  return 0;
}
