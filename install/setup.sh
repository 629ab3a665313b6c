#!/bin/sh
# Brings in what one make target needs, and nothing that is there already.
#
#   install/setup.sh build   a Go toolchain and a C compiler
#   install/setup.sh demo    the same, and OpenBLAS
#   install/setup.sh lab     the same, and Jupyter in .venv
#   install/setup.sh test    the same, a browser, a software Vulkan device, and the kernel compilers
#   install/setup.sh kernels the kernel compilers (in .cache/kernels)
#
# Debian packages are installed as root or through sudo; otherwise the script says which to ask for.
# Nothing else is put outside this directory.
set -eu
cd "$(dirname "$0")/.."

for_what=${1:-}
required="gcc libc6-dev"
helpful=""
venv=no
case $for_what in
build | kernels) ;;
demo) helpful="libopenblas0-pthread" ;;
lab)
	helpful="libopenblas0-pthread"
	venv=yes
	;;
test)
	required="$required libopenblas0-pthread chromium fonts-dejavu-core libvulkan1 mesa-vulkan-drivers vulkan-validationlayers"
	venv=yes
	;;
*)
	echo "usage: install/setup.sh build|demo|lab|test|kernels" >&2
	exit 2
	;;
esac

say() { echo "setup: $*"; }
die() {
	echo "setup: $*" >&2
	exit 1
}

# go.mod names the oldest Go that will do.
need_go=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
command -v go >/dev/null || die "no go command: install Go $need_go or later from https://go.dev/dl and put its bin directory into PATH"
have_go=$(go env GOVERSION | sed 's/^go//')
[ "$(printf '%s\n%s\n' "$need_go" "$have_go" | sort -V | head -n 1)" = "$need_go" ] ||
	die "Go $have_go is too old: install Go $need_go or later from https://go.dev/dl"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing() {
	for package in "$@"; do
		installed "$package" || printf '%s ' "$package"
	done
}

# Root does without sudo; a script without a terminal must not wait for a password.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		sudo "$@"
	else
		return 1
	fi
}

debian() { # debian required|helpful PACKAGE...
	kind=$1
	shift
	lacking=$(missing "$@")
	lacking=${lacking% }
	[ -n "$lacking" ] || return 0
	say "installing Debian packages: $lacking"
	# shellcheck disable=SC2086
	if as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $lacking >/dev/null; then
		return 0
	fi
	if [ "$kind" = required ]; then
		die "could not install them; ask an administrator for: apt-get install --no-install-recommends $lacking"
	fi
	say "could not install them; going on without. For speed, ask an administrator for: apt-get install $lacking"
}

if command -v dpkg-query >/dev/null; then
	# shellcheck disable=SC2086
	debian required $required
	# shellcheck disable=SC2086
	[ -z "$helpful" ] || debian helpful $helpful
else
	say "not a Debian system; make sure that it has what these Debian packages hold: $required $helpful"
fi

# CUDA's headers: with a toolkit there is nothing to fetch, and without any the CUDA backend is left out.
headers=.cache/cuda/include
if [ "$(uname -sm)" = "Linux x86_64" ] && [ ! -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" ] && [ ! -f $headers/cuda.h ]; then
	say "fetching CUDA's headers into $headers (2 MB)"
	mkdir -p $headers
	if python3 -m pip --version >/dev/null 2>&1 || debian helpful python3-pip && python3 -m pip download --quiet \
		--disable-pip-version-check --no-deps --require-hashes --dest .cache/cuda --requirement install/cuda-headers.txt &&
		python3 -m zipfile -e .cache/cuda/nvidia_cuda_runtime-*.whl .cache/cuda/wheel; then
		mv .cache/cuda/wheel/nvidia/cu13/include/cuda.h $headers/
	else
		say "could not fetch them; going on without the CUDA backend. To have it, set CUDA_HOME to a CUDA toolkit"
	fi
	rm -rf .cache/cuda/wheel .cache/cuda/*.whl
fi

# slangc and NVRTC, out of Python wheels. Tests that compile kernels are skipped where they are missing.
compilers=.cache/kernels
case $for_what in
test | kernels)
	want=$(sha256sum <install/requirements-kernels.txt)
	if [ "$(cat $compilers/stamp 2>/dev/null)" != "$want" ]; then
		say "fetching the kernel compilers into $compilers (some 95 MB)"
		rm -rf $compilers
		if { python3 -m pip --version >/dev/null 2>&1 || debian helpful python3-pip; } && python3 -m pip install --quiet \
			--disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
			--target $compilers --requirement install/requirements-kernels.txt; then
			chmod +x $compilers/slangtorch/bin/slangc
			echo "$want" >$compilers/stamp
		elif [ "$for_what" = kernels ]; then
			die "could not fetch them; they need Linux on x86-64 and PyPI"
		else
			say "could not fetch them; going on without"
		fi
	fi
	;;
esac

[ "$venv" = yes ] || exit 0

command -v python3 >/dev/null || die "no python3 command"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "$(python3 --version) is too old: 3.11 or later is needed"
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
	debian required python3-venv
fi

# The stamp is written last, so that an interrupted installation is done again.
stamp=.venv/requirements.sha256
want=$(cat install/requirements.txt install/papermill/* | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$want" ] || ! .venv/bin/python -c '' 2>/dev/null; then
	say "installing Python packages into .venv (some 450 MB)"
	rm -rf .venv
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check --requirement install/requirements.txt
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation ./install/papermill
	.venv/bin/pip check --disable-pip-version-check
	echo "$want" >"$stamp"
fi
