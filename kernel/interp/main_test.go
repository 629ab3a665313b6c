package interp

import "go/token"

var tensorFset = token.NewFileSet()
