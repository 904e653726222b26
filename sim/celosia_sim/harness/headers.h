// What is compiled once for all chips: see _precompiled in build.py.

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "verilated.h"
