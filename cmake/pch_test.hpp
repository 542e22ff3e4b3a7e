// The standard set, and the test framework.
#pragma once
#include <gtest/gtest.h>

#include "pch_std.hpp"
