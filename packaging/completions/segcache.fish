complete -c segcache -l admin-port -d 'TCP port of the admin plane [default: 9999]' -r
complete -c segcache -l engine -d 'How workers learn what their sockets do [default: auto]' -r -f -a "auto\t'What serves best on this system'
epoll\t'The system says which sockets are ready'
io_uring\t'The system reads and writes by itself, and says what it has done'"
complete -c segcache -s p -l port -d 'TCP port to listen on [default: 11211]' -r
complete -c segcache -l resp-port -d 'TCP port on which RESP, Redis\'s protocol, is spoken over the same items [default: none]' -r
complete -c segcache -s U -l udp-port -d 'UDP port to receive on, and TCP port unless that is given too; 0 is none [default: 0]' -r
complete -c segcache -s s -l unix-socket -d 'Unix socket to listen on (instead of TCP)' -r -F
complete -c segcache -s a -l unix-mask -d 'Access mask of the unix socket, in octal [default: 0700]' -r
complete -c segcache -s l -l listen -d 'Addresses to listen on, as ADDR or ADDR:PORT, with notls: in front for plain text while TLS is configured [default: 127.0.0.1]' -r
complete -c segcache -s m -l memory-limit -d 'Memory for items, their index and connections\' buffers, in megabytes [default: 64]' -r
complete -c segcache -s B -l protocol -d 'What is spoken: auto, ascii or binary [default: auto]' -r
complete -c segcache -s Y -l auth-file -d 'Have clients log in as one of the users of this file, lines of user:password; text alone is spoken unless -B or -S is given' -r -F
complete -c segcache -s D -d 'Count requests by the prefix of their key, which this character ends: stats detail' -r
complete -c segcache -s c -l conn-limit -d 'Connections served at once [default: 10000]' -r
complete -c segcache -s t -l threads -d 'Threads that serve requests [default: 1]' -r
complete -c segcache -s I -l max-item-size -d 'Largest item in bytes, or with suffix k, m or g [default: 1m]' -r
complete -c segcache -s b -l listen-backlog -d 'Connections that may wait to be accepted [default: 1024]' -r
complete -c segcache -s P -l pidfile -d 'File to write the process\'s number to' -r -F
complete -c segcache -s u -l user -d 'User to become, when started by root' -r
complete -c segcache -s R -l max-reqs-per-event -d 'Requests a connection is served before others have their turn [default: 256]' -r
complete -c segcache -s o -l extended -d 'Options of memcached\'s: idle_timeout=SECONDS, read_buf_mem_limit=MB, ssl_chain_cert=FILE, ssl_key=FILE, ssl_ca_cert=FILE, ssl_verify_mode=NUM, ssl_min_version=NUM; others have no effect' -r
complete -c segcache -s f -l slab-growth-factor -r
complete -c segcache -s n -l slab-min-size -r
complete -c segcache -s N -l napi_ids -r
complete -c segcache -s e -l memory-file -r -F
complete -c segcache -l turn-cpu-time -d 'Record the CPU time of each turn of the event loops: metric shoebill_turn_cpu_seconds'
complete -c segcache -l check-config -d 'Check the configuration and exit'
complete -c segcache -l print-config -d 'Print the effective configuration as TOML and exit'
complete -c segcache -l list-metrics -d 'Print name, labels, type and meaning of every metric that this configuration has and exit'
complete -c segcache -s M -l disable-evictions -d 'Refuse writes when the memory is used up, instead of evicting'
complete -c segcache -s L -l enable-largepages -d 'Ask for huge pages, as it does unless [seg] huge_pages is false'
complete -c segcache -s S -l enable-sasl -d 'Have clients log in by SASL, as one of the users of -Y FILE, [memcache] auth_file or $MEMCACHED_SASL_PWDB; the binary protocol alone is spoken unless -B or -Y is given'
complete -c segcache -s A -l enable-shutdown -d 'Let clients stop the server: shutdown'
complete -c segcache -s F -l disable-flush-all -d 'Refuse flush_all'
complete -c segcache -s X -l disable-dumping -d 'Refuse to list items: lru_crawler metadump, mgdump, stats cachedump'
complete -c segcache -s W -l disable-watch -d 'Refuse to show clients what happens in the server: watch'
complete -c segcache -s v -l verbose -d 'Log more: -v debug, -vv trace'
complete -c segcache -s d -l daemon -d 'Go to the background'
complete -c segcache -s k -l lock-memory -d 'Keep all memory from being swapped out'
complete -c segcache -s r -l enable-coredumps -d 'Allow core dumps of any size'
complete -c segcache -s i -l license -d 'Print the licence and exit'
complete -c segcache -s Z -l enable-ssl -d 'Encrypt, with the files of -o ssl_chain_cert=FILE,ssl_key=FILE'
complete -c segcache -s C -l disable-cas
complete -c segcache -s h -l help -d 'Print help (see more with \'--help\')'
complete -c segcache -s V -l version -d 'Print version'
