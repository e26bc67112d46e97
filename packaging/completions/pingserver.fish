complete -c pingserver -l admin-port -d 'TCP port of the admin plane [default: 9999]' -r
complete -c pingserver -l engine -d 'How workers learn what their sockets do [default: auto]' -r -f -a "auto\t'What serves best on this system'
epoll\t'The system says which sockets are ready'
io_uring\t'The system reads and writes by itself, and says what it has done'"
complete -c pingserver -l turn-cpu-time -d 'Record the CPU time of each turn of the event loops: metric shoebill_turn_cpu_seconds'
complete -c pingserver -l check-config -d 'Check the configuration and exit'
complete -c pingserver -l print-config -d 'Print the effective configuration as TOML and exit'
complete -c pingserver -l list-metrics -d 'Print name, labels, type and meaning of every metric that this configuration has and exit'
complete -c pingserver -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pingserver -s V -l version -d 'Print version'
