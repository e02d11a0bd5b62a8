# SPDX-License-Identifier: GPL-2.0-or-later

# DMCT_CC_FLAG(FLAG, IF-ACCEPTED): the compiler takes FLAG without a warning.
AC_DEFUN([DMCT_CC_FLAG], [
  AC_MSG_CHECKING([whether $CC accepts $1])
  dmct_saved=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([int main(void) { return 0; }])],
    [AC_MSG_RESULT([yes]); CFLAGS=$dmct_saved; $2], [AC_MSG_RESULT([no]); CFLAGS=$dmct_saved])
])

# DMCT_LD_FLAG(FLAG, IF-ACCEPTED): the linker takes FLAG, in a program compiled as a position-independent one.
AC_DEFUN([DMCT_LD_FLAG], [
  AC_MSG_CHECKING([whether the linker accepts $1])
  dmct_saved=$LDFLAGS dmct_saved_c=$CFLAGS
  LDFLAGS="$LDFLAGS -Werror $1" CFLAGS="$CFLAGS $DMCT_CFLAGS"
  AC_LINK_IFELSE([AC_LANG_SOURCE([int main(void) { return 0; }])],
    [AC_MSG_RESULT([yes]); LDFLAGS=$dmct_saved CFLAGS=$dmct_saved_c; $2],
    [AC_MSG_RESULT([no]); LDFLAGS=$dmct_saved CFLAGS=$dmct_saved_c])
])

# DMCT_LIBRARY(VARIABLE, PKG-CONFIG-SPEC, DEBIAN, FEDORA, ARCH, ALPINE): required; collects what is missing, with
# pkg-config's own words: the missing one may be another that this one requires.
AC_DEFUN([DMCT_LIBRARY], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [dmct_missing="$dmct_missing
  $2: Debian $3, Fedora $4, Arch $5, Alpine $6
`AS_ECHO(["$$1_PKG_ERRORS"]) | sed -e '/^$/d' -e '/PKG_CONFIG_PATH/d' -e '/containing/d' -e 's/^/    pkg-config: /'`"])
])

# DMCT_REPORT_MISSING: names every missing library at once.
AC_DEFUN([DMCT_REPORT_MISSING], [
  AS_IF([test -n "$dmct_missing"],
    [AC_MSG_ERROR([these libraries are missing; install the packages named:$dmct_missing])])
])

# DMCT_OPTIONAL(NAME, VARIABLE, PKG-CONFIG-SPEC, WHAT, DEBIAN, FEDORA, ARCH, ALPINE): --with-NAME, taken when there.
AC_DEFUN([DMCT_OPTIONAL], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [build without $4])], [], [with_$1=check])
  AS_IF([test "x$with_$1" != xno], [
    PKG_CHECK_MODULES([$2], [$3],
      [with_$1=yes; AC_DEFINE([WITH_$2], [1], [Build $4])],
      [AS_IF([test "x$with_$1" = xyes],
        [AC_MSG_ERROR([--with-$1: $3 is missing: Debian $5, Fedora $6, Arch $7, Alpine $8])])
       with_$1=no])
  ])
  AM_CONDITIONAL([WITH_$2], [test "x$with_$1" = xyes])
])
