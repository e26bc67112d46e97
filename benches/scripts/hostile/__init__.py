# SPDX-License-Identifier: Apache-2.0
"""The hostile clients of adversity.py, and how the harm that they do is judged.

protocols    what they say, in memcache and in RESP
connections  what is broken: half requests, handshakes, random bytes, connections that come and go
readers      pipelines that are written whole before anything is read, and readers that are slow
hoards       what a client can make a server keep: queues, watched keys, channels, names
operators    a certificate that cannot be read to its end, and too few descriptors
judge        the well-behaved client beside them, memory and descriptors

A scenario is a function of (server, ready, done): it opens its hostile connections, sets `ready` when it is
at work, and lets go when `done` is set. It runs in a process of its own.
"""
