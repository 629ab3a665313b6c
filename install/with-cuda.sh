#!/bin/sh
# Runs a command, as in `install/with-cuda.sh go test ./gpu/...`, with what the go command needs to
# compile the CUDA backend: the build tag, and CUDA's headers from a toolkit (CUDA_HOME, or
# /usr/local/cuda) or from where setup.sh puts them. Where there are no headers it runs the command
# as it is, and the backend is left out.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

for include in "${CUDA_HOME:-/usr/local/cuda}/include" "$here/.cache/cuda/include"; do
	if [ "$(uname -sm)" = "Linux x86_64" ] && [ -f "$include/cuda.h" ]; then
		# gorgonia.org/cu asks the linker for libcuda. Nothing is taken from it: an empty archive will do.
		stub=$here/.cache/cuda/lib
		if [ ! -f "$stub/libcuda.a" ]; then
			mkdir -p "$stub"
			printf '!<arch>\n' >"$stub/libcuda.a"
		fi
		export CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -I$here/gpu/cuda/driver/compat -I$include"
		export CGO_LDFLAGS="-L$stub ${CGO_LDFLAGS:--O2 -g}"
		export GOFLAGS="${GOFLAGS:-}${GOFLAGS:+ }-tags=cuda"
		break
	fi
done
exec "$@"
