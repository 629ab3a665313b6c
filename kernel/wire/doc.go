// Package wire speaks the Jupyter messaging protocol on sockets: it frames,
// signs and checks messages, and moves them between a kernel and its clients.
//
// The ZeroMQ protocol itself (greeting, handshake, frames) is go-zeromq's; the
// sockets above it are this package's own. go-zeromq's sockets panic in
// goroutines that nobody can recover when a peer announces an absurd frame
// size or breaks off its handshake's metadata, stop accepting while one peer
// is silent in its handshake, hide subscriptions from the XPUB's owner (so
// that no iopub_welcome can be sent), and leave a goroutine behind when
// closed. Here each peer has a goroutine to read, one to write, and a guard
// between the network and go-zeromq that checks every frame header first.
//
// Whatever a peer sends, the worst that happens is a log line and the end of
// that peer's connection.
//
// The package knows nothing of Go code, cells or kernels: it does not look
// into the content of a message.
package wire
