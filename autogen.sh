#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure from configure.ac; needs autoconf, automake and pkg-config.
cd "$(dirname "$0")" && exec autoreconf --install --force --warnings=all
