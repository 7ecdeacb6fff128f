"""A program that never calls back; ends when its standard input and its patience are at an end."""

import signal

signal.sigwait({signal.SIGTERM})
