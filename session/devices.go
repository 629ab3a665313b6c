package session

// The devices that Use can open.
import (
	_ "gradbook/gpu/host"
)
