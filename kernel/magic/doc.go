// Package magic is the part of a cell that is not Go: lines that begin with %
// or !, and cells that begin with %%.
//
// [Split] finds them without being fooled by a string, a comment or an
// expression that spans lines; a [Set] runs them. What a line needs from the
// kernel is in [Context]; the package knows nothing of messages, and nothing
// of the session: lines about that are added to a Set by whoever makes it.
package magic
