# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by quickstart, run-tests, plugins/arrow/setup and tests/peers/setup: the Debian packages that are needed, installed
# when missing, and the build.

# shellcheck disable=SC2034 # the lists are for those who source this
# What the build needs; gio, gobject and gmodule are in libglib2.0-dev.
# By dpkg-dev meson knows Debian's folder for libraries, where the linker looks.
dlp_build_packages="gcc libc6-dev dpkg-dev meson ninja-build pkg-config libglib2.0-dev libzstd-dev
  zlib1g-dev libxxhash-dev libpcre2-dev libsoup-3.0-dev liblzma-dev liblz4-dev libbz2-dev"

# shellcheck disable=SC2034
# What the tests call beyond that: zstd makes damaged inputs, python3 reads meson's test log; GTK, a
# display and a mouse for docs/examples/embed-gtk; two readers of manual pages; what makes and looks at the
# API for other languages, its reference, its ABI; Slurm and mpirun, started by the tests alone.
dlp_test_packages="zstd xz-utils lz4 bzip2 python3 libgtk-4-dev xvfb xdotool man-db mandoc libgirepository1.0-dev python3-gi
  valac gi-docgen abigail-tools slurm-wlm slurmctld slurmd slurm-client munge openmpi-bin"

# shellcheck disable=SC2034
# What the optional plugin arrow needs beyond that, besides Apache Arrow itself: see plugins/arrow/setup.
dlp_arrow_packages="g++ python3 python3-venv"

# dlp_need_packages PACKAGE...: installs those that are missing, and says so; silent when none is.
dlp_need_packages () {
  local missing=() package as_root=()

  if ! command -v dpkg-query >/dev/null; then
    echo "dlpipe: not a Debian system; these packages are taken for granted: $*" >&2
    return 0
  fi
  for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "dlpipe: missing packages, and neither root nor sudo to install them. As root:" >&2
      echo "  apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing Debian packages${as_root:+ (by sudo)}: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# dlp_build DIR [MESON_OPTION...]: configures DIR once and brings it, or only the targets in dlp_targets,
# up to date. Quiet unless it fails.
dlp_build () {
  local dir=$1 log
  shift
  log=$(mktemp)
  if [ ! -f "$dir/build.ninja" ] && ! meson setup "$dir" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  # shellcheck disable=SC2086 # several targets
  if ! ninja -C "$dir" -j "$(nproc)" ${dlp_targets:-} >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
