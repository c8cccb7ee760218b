#include "sotto/ledger/ledger.hpp"

#include <gtest/gtest.h>
