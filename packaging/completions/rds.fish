complete -c rds -l admin-port -d 'TCP port of the admin plane [default: 9999]' -r
complete -c rds -l engine -d 'How workers learn what their sockets do [default: auto]' -r -f -a "auto\t'What serves best on this system'
epoll\t'The system says which sockets are ready'
io_uring\t'The system reads and writes by itself, and says what it has done'"
complete -c rds -l databases -d 'How many databases there are [default: 16]' -r
complete -c rds -l maxmemory -d 'Bytes that keys, their tables, clients and the process may take; 0: any number [default: 0]' -r
complete -c rds -l maxmemory-clients -d 'Bytes that clients may take, or percent of `maxmemory`, 128 KiB at least: past it those that take most are closed; 0: [a share](rds.md#clients) [default: 0]' -r
complete -c rds -l maxmemory-policy -d 'What goes when they take more [default: noeviction]' -r
complete -c rds -l maxmemory-samples -d 'How many keys are compared for each that goes [default: 5]' -r
complete -c rds -l lfu-log-factor -d 'How slowly a key\'s count of uses grows [default: 10]' -r
complete -c rds -l lfu-decay-time -d 'After how many minutes without a use a count goes down by one [default: 1]' -r
complete -c rds -l maxmemory-eviction-tenacity -d ' [default: 10]' -r
complete -c rds -l active-expire-effort -d ' [default: 1]' -r
complete -c rds -l lazyfree-lazy-eviction -d ' [default: yes]' -r
complete -c rds -l lazyfree-lazy-expire -d ' [default: yes]' -r
complete -c rds -l lazyfree-lazy-server-del -d ' [default: yes]' -r
complete -c rds -l lazyfree-lazy-user-del -d ' [default: yes]' -r
complete -c rds -l lazyfree-lazy-user-flush -d ' [default: yes]' -r
complete -c rds -l activerehashing -d ' [default: yes]' -r
complete -c rds -l hash-max-listpack-entries -d 'Up to how many fields a hash is compact [default: 512]' -r
complete -c rds -l hash-max-listpack-value -d 'Up to how many bytes a field or its value is compact [default: 64]' -r
complete -c rds -l list-max-listpack-size -d 'How large the pieces of a list are: -1 to -5 for 4 to 64 KiB, else elements [default: -2]' -r
complete -c rds -l list-compress-depth -d ' [default: 0]' -r
complete -c rds -l set-max-intset-entries -d 'Up to how many members a set of integers is compact [default: 512]' -r
complete -c rds -l set-max-listpack-entries -d 'Up to how many members any other set is compact [default: 128]' -r
complete -c rds -l set-max-listpack-value -d 'Up to how many bytes a member of a compact set has [default: 64]' -r
complete -c rds -l zset-max-listpack-entries -d 'Up to how many members a sorted set is compact [default: 128]' -r
complete -c rds -l zset-max-listpack-value -d 'Up to how many bytes a member of a compact sorted set has [default: 64]' -r
complete -c rds -l hll-sparse-max-bytes -d 'Up to how many bytes a HyperLogLog is compact [default: 3000]' -r
complete -c rds -l stream-node-max-bytes -d 'Up to how many bytes a piece of a stream takes more items; 0: 64 KiB [default: 4096]' -r
complete -c rds -l stream-node-max-entries -d 'Up to how many items a piece of a stream has; 0: 65,535 [default: 100]' -r
complete -c rds -l stream-idmp-duration -d 'For how many seconds a stream knows messages that may come again (`IDMP`) [default: 100]' -r
complete -c rds -l stream-idmp-maxsize -d 'How many messages of each producer a stream knows [default: 100]' -r
complete -c rds -l activedefrag -d ' [default: no]' -r
complete -c rds -l active-defrag-ignore-bytes -d ' [default: 104857600]' -r
complete -c rds -l active-defrag-threshold-lower -d ' [default: 10]' -r
complete -c rds -l active-defrag-threshold-upper -d ' [default: 100]' -r
complete -c rds -l active-defrag-cycle-min -d ' [default: 1]' -r
complete -c rds -l active-defrag-cycle-us -d ' [default: 500]' -r
complete -c rds -l active-defrag-cycle-max -d ' [default: 25]' -r
complete -c rds -l active-defrag-max-scan-fields -d ' [default: 1000]' -r
complete -c rds -l jemalloc-bg-thread -d ' [default: yes]' -r
complete -c rds -l bind -d 'Addresses to listen on; with - in front those that may be missing [default: 127.0.0.1]' -r
complete -c rds -l port -d 'The port to listen on; 0: none [default: 6379]' -r
complete -c rds -l unixsocket -d 'A unix socket to listen on [default: ""]' -r
complete -c rds -l unixsocketperm -d 'Its permission bits, in octal; 0: only the server\'s user [default: 0]' -r
complete -c rds -l tcp-backlog -d 'Connections that may wait to be accepted [default: 511]' -r
complete -c rds -l io-threads -d 'Threads that serve connections [default: 1]' -r
complete -c rds -l io-threads-do-reads -d ' [default: no]' -r
complete -c rds -l tcp-keepalive -d 'Seconds without a word from a client after which it is asked whether it is still there; 0: never [default: 300]' -r
complete -c rds -l maxclients -d 'Connections served at once [default: 10000]' -r
complete -c rds -l timeout -d 'Seconds after which an idle connection is closed; 0: never [default: 0]' -r
complete -c rds -l client-output-buffer-limit -d 'With how many unread bytes a client is closed: at once, and for so many seconds. `normal` for replies, `pubsub` for clients that have subscribed; 0 is no limit [default: normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60]' -r
complete -c rds -l client-query-buffer-limit -d 'The largest request in bytes [default: 1073741824]' -r
complete -c rds -l proto-max-bulk-len -d 'The largest argument in bytes [default: 536870912]' -r
complete -c rds -l requirepass -d 'The password; none if empty [default: ""]' -r
complete -c rds -l protected-mode -d 'Without a password, serves clients of this machine only [default: yes]' -r
complete -c rds -l tls-port -d 'The port for TLS; 0: none [default: 0]' -r
complete -c rds -l tls-cert-file -d 'The certificate, then its intermediates [default: ""]' -r
complete -c rds -l tls-key-file -d 'The key of the certificate, not encrypted [default: ""]' -r
complete -c rds -l tls-ca-cert-file -d 'Authorities that clients\' certificates are checked against [default: ""]' -r
complete -c rds -l tls-auth-clients -d 'Whether clients must show a certificate [default: yes]' -r
complete -c rds -l tls-protocols -d 'Versions that are spoken: TLSv1.2, TLSv1.3 or both [default: ""]' -r
complete -c rds -l tls-replication -d 'Whether MIGRATE speaks TLS to the other server, whose certificate must be one of the authorities\' in `tls-ca-cert-file` [default: no]' -r
complete -c rds -l tls-key-file-pass -d ' [default: ""]' -r
complete -c rds -l tls-ca-cert-dir -d ' [default: ""]' -r
complete -c rds -l tls-dh-params-file -d ' [default: ""]' -r
complete -c rds -l tls-ciphers -d ' [default: ""]' -r
complete -c rds -l tls-ciphersuites -d ' [default: ""]' -r
complete -c rds -l tls-prefer-server-ciphers -d ' [default: no]' -r
complete -c rds -l tls-session-caching -d ' [default: yes]' -r
complete -c rds -l tls-session-cache-size -d ' [default: 20480]' -r
complete -c rds -l tls-session-cache-timeout -d ' [default: 300]' -r
complete -c rds -l socket-mark-id -d ' [default: 0]' -r
complete -c rds -l bind-source-addr -d ' [default: ""]' -r
complete -c rds -l prefetch-batch-max-size -d ' [default: 16]' -r
complete -c rds -l io-threads-always-active -d ' [default: no]' -r
complete -c rds -l min-io-threads-avoid-copy-reply -d ' [default: 7]' -r
complete -c rds -l min-string-size-avoid-copy-reply -d ' [default: 16384]' -r
complete -c rds -l min-string-size-avoid-copy-reply-threaded -d ' [default: 65536]' -r
complete -c rds -l mptcp -d ' [default: no]' -r
complete -c rds -l unixsocketgroup -d ' [default: ""]' -r
complete -c rds -l tls-auth-clients-user -d ' [default: off]' -r
complete -c rds -l tls-auto-reload-interval -d ' [default: 0]' -r
complete -c rds -l max-new-connections-per-cycle -d ' [default: 10]' -r
complete -c rds -l max-new-tls-connections-per-cycle -d ' [default: 1]' -r
complete -c rds -l notify-keyspace-events -d 'Which events are published [default: ""]' -r
complete -c rds -l slowlog-log-slower-than -d 'Microseconds from which on a command is slow; -1: none is [default: 10000]' -r
complete -c rds -l slowlog-max-len -d 'How many slow commands are remembered [default: 128]' -r
complete -c rds -l commandlog-request-larger-than -d 'Bytes from which on a request is large; -1: none is [default: 1048576]' -r
complete -c rds -l commandlog-large-request-max-len -d 'How many commands with large requests are remembered [default: 128]' -r
complete -c rds -l commandlog-reply-larger-than -d 'Bytes from which on a reply is large; -1: none is [default: 1048576]' -r
complete -c rds -l commandlog-large-reply-max-len -d 'How many commands with large replies are remembered [default: 128]' -r
complete -c rds -l latency-monitor-threshold -d 'Milliseconds from which on LATENCY notes a command; 0: none [default: 0]' -r
complete -c rds -l latency-tracking -d 'Whether each command has a histogram of its times [default: yes]' -r
complete -c rds -l latency-tracking-info-percentiles -d 'Percentiles that INFO shows [default: 50 99 99.9]' -r
complete -c rds -l enable-debug-command -d 'Whether DEBUG may be used; local: from this machine only [default: no]' -r
complete -c rds -l tracking-table-max-keys -d 'The most keys that are remembered as cached by clients; 0: no limit [default: 1000000]' -r
complete -c rds -l loglevel -d 'How much is logged [default: notice]' -r
complete -c rds -l logfile -d 'The file to log to; if empty standard output, with a file of ours standard error [default: ""]' -r
complete -c rds -l daemonize -d 'Whether the server goes to the background [default: no]' -r
complete -c rds -l supervised -d 'The service manager that started the server, which then stays in the foreground [default: no]' -r
complete -c rds -l pidfile -d 'The file to write the process\'s number to [default: ""]' -r
complete -c rds -l syslog-enabled -d ' [default: no]' -r
complete -c rds -l syslog-ident -d ' [default: redis]' -r
complete -c rds -l syslog-facility -d ' [default: local0]' -r
complete -c rds -l dir -d ' [default: .]' -r
complete -c rds -l availability-zone -d 'Where the server runs, for INFO [default: ""]' -r
complete -c rds -l log-format -d ' [default: legacy]' -r
complete -c rds -l log-timestamp-format -d ' [default: legacy]' -r
complete -c rds -l hash-seed -d ' [default: ""]' -r
complete -c rds -l locale-collate -d ' [default: ""]' -r
complete -c rds -l extended-redis-compatibility -d ' [default: no]' -r
complete -c rds -l enable-debug-assert -d ' [default: no]' -r
complete -c rds -l debug-context -d ' [default: ""]' -r
complete -c rds -l always-show-logo -d ' [default: no]' -r
complete -c rds -l set-proc-title -d ' [default: no]' -r
complete -c rds -l proc-title-template -d ' [default: {title} {listen-addr} {server-mode}]' -r
complete -c rds -l crash-log-enabled -d ' [default: no]' -r
complete -c rds -l crash-memcheck-enabled -d ' [default: no]' -r
complete -c rds -l disable-thp -d 'Whether the system is kept from making huge pages of small ones where data is [default: yes]' -r
complete -c rds -l huge-pages -d 'Whether memory of data is taken in huge pages where the system has them, before it is needed, by a thread of its own [default: yes]' -r
complete -c rds -l oom-score-adj -d ' [default: no]' -r
complete -c rds -l oom-score-adj-values -d ' [default: 0 200 800]' -r
complete -c rds -l hz -d ' [default: 10]' -r
complete -c rds -l dynamic-hz -d ' [default: yes]' -r
complete -c rds -l shutdown-timeout -d ' [default: 10]' -r
complete -c rds -l shutdown-on-sigint -d ' [default: default]' -r
complete -c rds -l shutdown-on-sigterm -d ' [default: default]' -r
complete -c rds -l server_cpulist -d ' [default: ""]' -r
complete -c rds -l bio_cpulist -d ' [default: ""]' -r
complete -c rds -l aof_rewrite_cpulist -d ' [default: ""]' -r
complete -c rds -l bgsave_cpulist -d ' [default: ""]' -r
complete -c rds -l ignore-warnings -d ' [default: ""]' -r
complete -c rds -l busy-reply-threshold -d 'Milliseconds from which on a script takes too long: one that has written nothing is ended, and others are told that it is busy. 0: never [default: 5000]' -r
complete -c rds -l propagation-error-behavior -d ' [default: ignore]' -r
complete -c rds -l use-exit-on-panic -d ' [default: no]' -r
complete -c rds -l watchdog-period -d ' [default: 0]' -r
complete -c rds -l hide-user-data-from-log -d ' [default: no]' -r
complete -c rds -l enable-protected-configs -d ' [default: no]' -r
complete -c rds -l aclfile -d 'A file of users, which ACL LOAD reads again and ACL SAVE writes; none if empty [default: ""]' -r
complete -c rds -l acllog-max-len -d 'How many entries ACL LOG keeps [default: 128]' -r
complete -c rds -l acl-pubsub-default -d 'The channels of a new user: all or none [default: resetchannels]' -r
complete -c rds -l user -d 'A user and its rules, a line each [default: ""]' -r
complete -c rds -l cluster-enabled -d 'Whether this server is a node of a cluster [default: no]' -r
complete -c rds -l cluster-config-file -d 'The file of nodes, which is read again when it changes and never written [default: nodes.conf]' -r
complete -c rds -l cluster-announce-ip -d 'The address of this server in the file of nodes, by which it finds itself there [default: ""]' -r
complete -c rds -l cluster-announce-hostname -d 'Its host name there; the same [default: ""]' -r
complete -c rds -l cluster-announce-human-nodename -d 'Its `nodename` there; the same [default: ""]' -r
complete -c rds -l cluster-announce-port -d 'Its port there; 0: that of `port` [default: 0]' -r
complete -c rds -l cluster-announce-tls-port -d 'Its port for TLS there; 0: that of `tls-port` [default: 0]' -r
complete -c rds -l cluster-preferred-endpoint-type -d 'How clients are told where nodes are [default: ip]' -r
complete -c rds -l cluster-require-full-coverage -d 'Serves no keys while some slot has no owner, or one with the flag `fail` [default: yes]' -r
complete -c rds -l cluster-allow-reads-when-down -d 'Serves reads even then [default: no]' -r
complete -c rds -l cluster-allow-pubsubshard-when-down -d 'Serves shard channels even then [default: yes]' -r
complete -c rds -l cluster-node-timeout -d ' [default: 15000]' -r
complete -c rds -l cluster-port -d ' [default: 0]' -r
complete -c rds -l cluster-announce-bus-port -d ' [default: 0]' -r
complete -c rds -l cluster-announce-client-ipv4 -d ' [default: ""]' -r
complete -c rds -l cluster-announce-client-ipv6 -d ' [default: ""]' -r
complete -c rds -l cluster-announce-client-port -d ' [default: 0]' -r
complete -c rds -l cluster-announce-client-tls-port -d ' [default: 0]' -r
complete -c rds -l cluster-databases -d ' [default: 1]' -r
complete -c rds -l cluster-slot-stats-enabled -d ' [default: no]' -r
complete -c rds -l cluster-blacklist-ttl -d ' [default: 60]' -r
complete -c rds -l cluster-config-save-behavior -d ' [default: sync]' -r
complete -c rds -l cluster-manual-failover-timeout -d ' [default: 5000]' -r
complete -c rds -l cluster-slot-migration-log-max-len -d ' [default: 1000]' -r
complete -c rds -l slot-migration-max-failover-repl-bytes -d ' [default: 0]' -r
complete -c rds -l cluster-migration-barrier -d ' [default: 1]' -r
complete -c rds -l cluster-allow-replica-migration -d ' [default: yes]' -r
complete -c rds -l cluster-link-sendbuf-limit -d ' [default: 0]' -r
complete -c rds -l cluster-replica-no-failover -d ' [default: no]' -r
complete -c rds -l cluster-replica-validity-factor -d ' [default: 10]' -r
complete -c rds -l tls-cluster -d ' [default: no]' -r
complete -c rds -l cluster-compatibility-sample-ratio -d ' [default: 0]' -r
complete -c rds -l save -d ' [default: ""]' -r
complete -c rds -l appendonly -d ' [default: no]' -r
complete -c rds -l appendfilename -d ' [default: appendonly.aof]' -r
complete -c rds -l appenddirname -d ' [default: appendonlydir]' -r
complete -c rds -l appendfsync -d ' [default: everysec]' -r
complete -c rds -l no-appendfsync-on-rewrite -d ' [default: no]' -r
complete -c rds -l auto-aof-rewrite-percentage -d ' [default: 100]' -r
complete -c rds -l auto-aof-rewrite-min-size -d ' [default: 67108864]' -r
complete -c rds -l aof-load-truncated -d ' [default: yes]' -r
complete -c rds -l aof-use-rdb-preamble -d ' [default: yes]' -r
complete -c rds -l aof-timestamp-enabled -d ' [default: no]' -r
complete -c rds -l aof-rewrite-incremental-fsync -d ' [default: yes]' -r
complete -c rds -l aof-disable-auto-gc -d ' [default: no]' -r
complete -c rds -l dbfilename -d ' [default: dump.rdb]' -r
complete -c rds -l rdbcompression -d ' [default: yes]' -r
complete -c rds -l rdbchecksum -d ' [default: yes]' -r
complete -c rds -l rdb-key-save-delay -d ' [default: 0]' -r
complete -c rds -l key-load-delay -d ' [default: 0]' -r
complete -c rds -l loading-process-events-interval-bytes -d ' [default: 2097152]' -r
complete -c rds -l rdb-del-sync-files -d ' [default: no]' -r
complete -c rds -l rdb-save-incremental-fsync -d ' [default: yes]' -r
complete -c rds -l sanitize-dump-payload -d ' [default: no]' -r
complete -c rds -l stop-writes-on-bgsave-error -d ' [default: yes]' -r
complete -c rds -l rdb-version-check -d ' [default: strict]' -r
complete -c rds -l import-mode -d ' [default: no]' -r
complete -c rds -l replicaof -d ' [default: ""]' -r
complete -c rds -l masterauth -d ' [default: ""]' -r
complete -c rds -l masteruser -d ' [default: ""]' -r
complete -c rds -l replica-serve-stale-data -d ' [default: yes]' -r
complete -c rds -l replica-read-only -d ' [default: yes]' -r
complete -c rds -l replica-ignore-maxmemory -d ' [default: yes]' -r
complete -c rds -l replica-ignore-disk-write-errors -d ' [default: no]' -r
complete -c rds -l replica-lazy-flush -d ' [default: no]' -r
complete -c rds -l replica-priority -d ' [default: 100]' -r
complete -c rds -l replica-announced -d ' [default: yes]' -r
complete -c rds -l replica-announce-ip -d ' [default: ""]' -r
complete -c rds -l replica-announce-port -d ' [default: 0]' -r
complete -c rds -l repl-diskless-sync -d ' [default: yes]' -r
complete -c rds -l repl-diskless-sync-delay -d ' [default: 5]' -r
complete -c rds -l repl-diskless-sync-max-replicas -d ' [default: 0]' -r
complete -c rds -l repl-diskless-load -d ' [default: disabled]' -r
complete -c rds -l repl-disable-tcp-nodelay -d ' [default: no]' -r
complete -c rds -l repl-ping-replica-period -d ' [default: 10]' -r
complete -c rds -l replica-full-sync-buffer-limit -d ' [default: 0]' -r
complete -c rds -l dual-channel-replication-enabled -d ' [default: no]' -r
complete -c rds -l repl-mptcp -d ' [default: no]' -r
complete -c rds -l repl-timeout -d ' [default: 60]' -r
complete -c rds -l repl-backlog-size -d ' [default: 1048576]' -r
complete -c rds -l repl-backlog-ttl -d ' [default: 3600]' -r
complete -c rds -l min-replicas-to-write -d ' [default: 0]' -r
complete -c rds -l min-replicas-max-lag -d ' [default: 10]' -r
complete -c rds -l tls-client-cert-file -d ' [default: ""]' -r
complete -c rds -l tls-client-key-file -d ' [default: ""]' -r
complete -c rds -l tls-client-key-file-pass -d ' [default: ""]' -r
complete -c rds -l rename-command -d ' [default: ""]' -r
complete -c rds -l loadmodule -d ' [default: ""]' -r
complete -c rds -l lua-enable-deprecated-api -d ' [default: no]' -r
complete -c rds -l enable-module-command -d ' [default: no]' -r
complete -c rds -l turn-cpu-time -d 'Record the CPU time of each turn of the event loops: metric shoebill_turn_cpu_seconds'
complete -c rds -l check-config -d 'Check the configuration and exit'
complete -c rds -l print-config -d 'Print the effective configuration as TOML and exit'
complete -c rds -l list-metrics -d 'Print name, labels, type and meaning of every metric that this configuration has and exit'
complete -c rds -s v -l version -d 'Print version'
complete -c rds -s h -l help -d 'Print help (see more with \'--help\')'
