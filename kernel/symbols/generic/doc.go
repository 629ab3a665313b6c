// Package generic and its subfolders hold the source of generic functions and types of the standard library whose own source
// reaches into the runtime. Each folder stands for the package at the same path: cells instantiate from here. They
// behave as the library documents; what they lack is speed that cells would not see.
package generic
