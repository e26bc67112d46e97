_rds() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="rds"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        rds)
            opts="-v -h --admin-port --engine --turn-cpu-time --check-config --print-config --list-metrics --version --databases --maxmemory --maxmemory-clients --maxmemory-policy --maxmemory-samples --lfu-log-factor --lfu-decay-time --maxmemory-eviction-tenacity --active-expire-effort --lazyfree-lazy-eviction --lazyfree-lazy-expire --lazyfree-lazy-server-del --lazyfree-lazy-user-del --lazyfree-lazy-user-flush --activerehashing --hash-max-listpack-entries --hash-max-listpack-value --list-max-listpack-size --list-compress-depth --set-max-intset-entries --set-max-listpack-entries --set-max-listpack-value --zset-max-listpack-entries --zset-max-listpack-value --hll-sparse-max-bytes --stream-node-max-bytes --stream-node-max-entries --stream-idmp-duration --stream-idmp-maxsize --activedefrag --active-defrag-ignore-bytes --active-defrag-threshold-lower --active-defrag-threshold-upper --active-defrag-cycle-min --active-defrag-cycle-us --active-defrag-cycle-max --active-defrag-max-scan-fields --jemalloc-bg-thread --bind --port --unixsocket --unixsocketperm --tcp-backlog --io-threads --io-threads-do-reads --tcp-keepalive --maxclients --timeout --client-output-buffer-limit --client-query-buffer-limit --proto-max-bulk-len --requirepass --protected-mode --tls-port --tls-cert-file --tls-key-file --tls-ca-cert-file --tls-auth-clients --tls-protocols --tls-replication --tls-key-file-pass --tls-ca-cert-dir --tls-dh-params-file --tls-ciphers --tls-ciphersuites --tls-prefer-server-ciphers --tls-session-caching --tls-session-cache-size --tls-session-cache-timeout --socket-mark-id --bind-source-addr --prefetch-batch-max-size --io-threads-always-active --min-io-threads-avoid-copy-reply --min-string-size-avoid-copy-reply --min-string-size-avoid-copy-reply-threaded --mptcp --unixsocketgroup --tls-auth-clients-user --tls-auto-reload-interval --max-new-connections-per-cycle --max-new-tls-connections-per-cycle --notify-keyspace-events --slowlog-log-slower-than --slowlog-max-len --commandlog-request-larger-than --commandlog-large-request-max-len --commandlog-reply-larger-than --commandlog-large-reply-max-len --latency-monitor-threshold --latency-tracking --latency-tracking-info-percentiles --enable-debug-command --tracking-table-max-keys --loglevel --logfile --daemonize --supervised --pidfile --syslog-enabled --syslog-ident --syslog-facility --dir --availability-zone --log-format --log-timestamp-format --hash-seed --locale-collate --extended-redis-compatibility --enable-debug-assert --debug-context --always-show-logo --set-proc-title --proc-title-template --crash-log-enabled --crash-memcheck-enabled --disable-thp --huge-pages --oom-score-adj --oom-score-adj-values --hz --dynamic-hz --shutdown-timeout --shutdown-on-sigint --shutdown-on-sigterm --server_cpulist --bio_cpulist --aof_rewrite_cpulist --bgsave_cpulist --ignore-warnings --busy-reply-threshold --propagation-error-behavior --use-exit-on-panic --watchdog-period --hide-user-data-from-log --enable-protected-configs --aclfile --acllog-max-len --acl-pubsub-default --user --cluster-enabled --cluster-config-file --cluster-announce-ip --cluster-announce-hostname --cluster-announce-human-nodename --cluster-announce-port --cluster-announce-tls-port --cluster-preferred-endpoint-type --cluster-require-full-coverage --cluster-allow-reads-when-down --cluster-allow-pubsubshard-when-down --cluster-node-timeout --cluster-port --cluster-announce-bus-port --cluster-announce-client-ipv4 --cluster-announce-client-ipv6 --cluster-announce-client-port --cluster-announce-client-tls-port --cluster-databases --cluster-slot-stats-enabled --cluster-blacklist-ttl --cluster-config-save-behavior --cluster-manual-failover-timeout --cluster-slot-migration-log-max-len --slot-migration-max-failover-repl-bytes --cluster-migration-barrier --cluster-allow-replica-migration --cluster-link-sendbuf-limit --cluster-replica-no-failover --cluster-replica-validity-factor --tls-cluster --cluster-compatibility-sample-ratio --save --appendonly --appendfilename --appenddirname --appendfsync --no-appendfsync-on-rewrite --auto-aof-rewrite-percentage --auto-aof-rewrite-min-size --aof-load-truncated --aof-use-rdb-preamble --aof-timestamp-enabled --aof-rewrite-incremental-fsync --aof-disable-auto-gc --dbfilename --rdbcompression --rdbchecksum --rdb-key-save-delay --key-load-delay --loading-process-events-interval-bytes --rdb-del-sync-files --rdb-save-incremental-fsync --sanitize-dump-payload --stop-writes-on-bgsave-error --rdb-version-check --import-mode --replicaof --masterauth --masteruser --replica-serve-stale-data --replica-read-only --replica-ignore-maxmemory --replica-ignore-disk-write-errors --replica-lazy-flush --replica-priority --replica-announced --replica-announce-ip --replica-announce-port --repl-diskless-sync --repl-diskless-sync-delay --repl-diskless-sync-max-replicas --repl-diskless-load --repl-disable-tcp-nodelay --repl-ping-replica-period --replica-full-sync-buffer-limit --dual-channel-replication-enabled --repl-mptcp --repl-timeout --repl-backlog-size --repl-backlog-ttl --min-replicas-to-write --min-replicas-max-lag --tls-client-cert-file --tls-client-key-file --tls-client-key-file-pass --rename-command --loadmodule --lua-enable-deprecated-api --enable-module-command --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --admin-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --engine)
                    COMPREPLY=($(compgen -W "auto epoll io_uring" -- "${cur}"))
                    return 0
                    ;;
                --databases)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxmemory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxmemory-clients)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxmemory-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxmemory-samples)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lfu-log-factor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lfu-decay-time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxmemory-eviction-tenacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-expire-effort)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lazyfree-lazy-eviction)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lazyfree-lazy-expire)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lazyfree-lazy-server-del)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lazyfree-lazy-user-del)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lazyfree-lazy-user-flush)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --activerehashing)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash-max-listpack-entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash-max-listpack-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --list-max-listpack-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --list-compress-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set-max-intset-entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set-max-listpack-entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set-max-listpack-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zset-max-listpack-entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zset-max-listpack-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hll-sparse-max-bytes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stream-node-max-bytes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stream-node-max-entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stream-idmp-duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stream-idmp-maxsize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --activedefrag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-ignore-bytes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-threshold-lower)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-threshold-upper)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-cycle-min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-cycle-us)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-cycle-max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --active-defrag-max-scan-fields)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jemalloc-bg-thread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bind)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unixsocket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unixsocketperm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tcp-backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io-threads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io-threads-do-reads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tcp-keepalive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --maxclients)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-output-buffer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-query-buffer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proto-max-bulk-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --requirepass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protected-mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-cert-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-key-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-ca-cert-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-auth-clients)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-protocols)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-replication)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-key-file-pass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-ca-cert-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-dh-params-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-ciphers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-ciphersuites)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-prefer-server-ciphers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-session-caching)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-session-cache-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-session-cache-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --socket-mark-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bind-source-addr)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prefetch-batch-max-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io-threads-always-active)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --min-io-threads-avoid-copy-reply)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --min-string-size-avoid-copy-reply)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --min-string-size-avoid-copy-reply-threaded)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mptcp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unixsocketgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-auth-clients-user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-auto-reload-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-new-connections-per-cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-new-tls-connections-per-cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --notify-keyspace-events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slowlog-log-slower-than)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slowlog-max-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --commandlog-request-larger-than)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --commandlog-large-request-max-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --commandlog-reply-larger-than)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --commandlog-large-reply-max-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-monitor-threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-tracking)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-tracking-info-percentiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --enable-debug-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tracking-table-max-keys)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loglevel)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logfile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --daemonize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --supervised)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pidfile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --syslog-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --syslog-ident)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --syslog-facility)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --availability-zone)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-timestamp-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash-seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --locale-collate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extended-redis-compatibility)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --enable-debug-assert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --debug-context)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --always-show-logo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set-proc-title)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proc-title-template)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --crash-log-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --crash-memcheck-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable-thp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --huge-pages)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --oom-score-adj)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --oom-score-adj-values)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hz)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dynamic-hz)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shutdown-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shutdown-on-sigint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shutdown-on-sigterm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server_cpulist)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bio_cpulist)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof_rewrite_cpulist)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bgsave_cpulist)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore-warnings)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --busy-reply-threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --propagation-error-behavior)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --use-exit-on-panic)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --watchdog-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hide-user-data-from-log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --enable-protected-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aclfile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --acllog-max-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --acl-pubsub-default)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-ip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-hostname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-human-nodename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-tls-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-preferred-endpoint-type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-require-full-coverage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-allow-reads-when-down)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-allow-pubsubshard-when-down)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-node-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-bus-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-client-ipv4)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-client-ipv6)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-client-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-announce-client-tls-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-databases)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-slot-stats-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-blacklist-ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-config-save-behavior)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-manual-failover-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-slot-migration-log-max-len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slot-migration-max-failover-repl-bytes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-migration-barrier)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-allow-replica-migration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-link-sendbuf-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-replica-no-failover)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-replica-validity-factor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-compatibility-sample-ratio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --save)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --appendonly)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --appendfilename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --appenddirname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --appendfsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-appendfsync-on-rewrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --auto-aof-rewrite-percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --auto-aof-rewrite-min-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof-load-truncated)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof-use-rdb-preamble)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof-timestamp-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof-rewrite-incremental-fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aof-disable-auto-gc)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dbfilename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdbcompression)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdbchecksum)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdb-key-save-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key-load-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loading-process-events-interval-bytes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdb-del-sync-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdb-save-incremental-fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sanitize-dump-payload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop-writes-on-bgsave-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rdb-version-check)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --import-mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replicaof)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --masterauth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --masteruser)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-serve-stale-data)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-read-only)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-ignore-maxmemory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-ignore-disk-write-errors)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-lazy-flush)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-priority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-announced)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-announce-ip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-announce-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-diskless-sync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-diskless-sync-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-diskless-sync-max-replicas)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-diskless-load)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-disable-tcp-nodelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-ping-replica-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replica-full-sync-buffer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dual-channel-replication-enabled)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-mptcp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-backlog-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repl-backlog-ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --min-replicas-to-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --min-replicas-max-lag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-client-cert-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-client-key-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-client-key-file-pass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rename-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loadmodule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lua-enable-deprecated-api)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --enable-module-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _rds -o nosort -o bashdefault -o default rds
else
    complete -F _rds -o bashdefault -o default rds
fi
