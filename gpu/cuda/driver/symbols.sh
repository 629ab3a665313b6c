#!/bin/sh
# Writes symbols.h: one X(name) for each function of the driver that
# gorgonia.org/cu and this package call. Run it as
# install/with-cuda.sh go generate ./gpu/cuda/driver.
set -eu
cd "$(dirname "$0")"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# The functions that object files or an archive call and do not have.
lacking() {
	nm "$@" 2>/dev/null | awk '
		$1 == "U" && $2 ~ /^cu[A-Z]/ { lacks[$2] }
		$2 == "T" { has[$3] }
		END { for (name in lacks) if (!(name in has)) print name }'
}

for source in calls blas lt; do
	# shellcheck disable=SC2086
	${CC:-gcc} $CGO_CFLAGS -c -o "$objects/$source.o" "$source.c"
done
{
	echo "// Written by symbols.sh: the functions of the driver that are bound when it is opened."
	{
		lacking "$(go list -export -f '{{.Export}}' gorgonia.org/cu)"
		lacking "$objects"/*.o
	} | LC_ALL=C sort -u | sed 's/.*/X(&)/'
} >"$objects/symbols.h"
cp "$objects/symbols.h" symbols.h
