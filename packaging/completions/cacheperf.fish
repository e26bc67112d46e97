# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cacheperf_global_optspecs
    string join \n p/protocol= a/address= tls-ca= tls-insecure tls-no-resumption tls-name= tls-cert= tls-key= c/connections= t/threads= d/depth= arrivals= reconnect= give-up-after= w/warm-up= D/duration= preload k/keys= key-size= s/value-size= popularity= m/mix= multiget-keys= ttl= seed= r/rate= n/requests= fan-out= json= html= svg= h/help V/version
end

function __fish_cacheperf_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cacheperf_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cacheperf_using_subcommand
    set -l cmd (__fish_cacheperf_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cacheperf -n "__fish_cacheperf_needs_command" -s p -l protocol -d 'What it speaks: memcache, meta, resp2, resp3 or ping' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s a -l address -d 'Where it listens: HOST, HOST:PORT or unix:/path. With several, a,b,c, connections are divided among these servers in turns' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-ca -d 'Encrypt, and believe the certificates of this authority (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-name -d 'The host that the server\'s certificate is for' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-cert -d 'The certificate to show (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-key -d 'Its key (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s c -l connections -d 'Connections, of all threads together' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s t -l threads -d 'Threads, each with its share of the connections' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s d -l depth -d 'Requests of a pipeline; in an open loop the most that are under way on a connection [default: 1, in an open loop 64]' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l arrivals -d 'How the requests of an open loop follow each other: even or poisson' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l reconnect -d 'In a closed loop: open a new connection in place of each one that has had so many requests. The first request of each then waits for the connection and the TLS handshake, too (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l give-up-after -d 'A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to open none again' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s w -l warm-up -d 'Time before the measured time, under the same load' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s D -l duration -d 'The measured time' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s k -l keys -d 'How many keys there are (k, m: thousands, millions)' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l key-size -d 'Bytes of a key: 20, 16-40, lognormal:MEDIAN:SIGMA[:MAX] or a list as 16=9,40=1' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s s -l value-size -d 'Bytes of a value, in the same ways (k, m: 1024, 1024 x 1024)' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l popularity -d 'How requests spread over the keys: uniform or zipf:EXPONENT' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s m -l mix -d 'Kinds of requests by weight: get, set, delete, multiget' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l multiget-keys -d 'Keys of one multi-get' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l ttl -d 'Seconds that what is written lives, in the same ways as sizes; 0 for ever' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l seed -d 'The seed of all random numbers: the same seed asks the same' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s r -l rate -d 'Send so many requests per second, whatever becomes of them: an open loop (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s n -l requests -d 'End after so many requests instead of a time (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l fan-out -d 'Measure users\' requests, each of so many requests on different connections at once, which takes as long as the slowest of them: 10,100. One alone is always measured, too. In an open loop' -r
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l json -d 'Write the results as JSON' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l html -d 'Write the results as a page with plots' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l svg -d 'Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison p999 against throughput, of a fan-out latency by width' -r -F
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-insecure -d 'Encrypt, and believe every certificate'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l tls-no-resumption -d 'Resume no TLS session: shake hands in full each time'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -l preload -d 'Write every key once before'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s h -l help -d 'Print help'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -s V -l version -d 'Print version'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -f -a "run" -d 'Run one load (what happens without a command)'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -f -a "sweep" -d 'Find the highest rate of an open loop that keeps p999 under a bound'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -f -a "compare" -d 'Compare servers: start them, and measure them in turns'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -f -a "replay" -d 'Replay a trace: what a get does not find is written'
complete -c cacheperf -n "__fish_cacheperf_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s p -l protocol -d 'What it speaks: memcache, meta, resp2, resp3 or ping' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s a -l address -d 'Where it listens: HOST, HOST:PORT or unix:/path. With several, a,b,c, connections are divided among these servers in turns' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-ca -d 'Encrypt, and believe the certificates of this authority (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-name -d 'The host that the server\'s certificate is for' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-cert -d 'The certificate to show (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-key -d 'Its key (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s c -l connections -d 'Connections, of all threads together' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s t -l threads -d 'Threads, each with its share of the connections' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s d -l depth -d 'Requests of a pipeline; in an open loop the most that are under way on a connection [default: 1, in an open loop 64]' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l arrivals -d 'How the requests of an open loop follow each other: even or poisson' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l reconnect -d 'In a closed loop: open a new connection in place of each one that has had so many requests. The first request of each then waits for the connection and the TLS handshake, too (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l give-up-after -d 'A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to open none again' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s w -l warm-up -d 'Time before the measured time, under the same load' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s D -l duration -d 'The measured time' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s k -l keys -d 'How many keys there are (k, m: thousands, millions)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l key-size -d 'Bytes of a key: 20, 16-40, lognormal:MEDIAN:SIGMA[:MAX] or a list as 16=9,40=1' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s s -l value-size -d 'Bytes of a value, in the same ways (k, m: 1024, 1024 x 1024)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l popularity -d 'How requests spread over the keys: uniform or zipf:EXPONENT' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s m -l mix -d 'Kinds of requests by weight: get, set, delete, multiget' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l multiget-keys -d 'Keys of one multi-get' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l ttl -d 'Seconds that what is written lives, in the same ways as sizes; 0 for ever' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l seed -d 'The seed of all random numbers: the same seed asks the same' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s r -l rate -d 'Send so many requests per second, whatever becomes of them: an open loop (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s n -l requests -d 'End after so many requests instead of a time (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l fan-out -d 'Measure users\' requests, each of so many requests on different connections at once, which takes as long as the slowest of them: 10,100. One alone is always measured, too. In an open loop' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l json -d 'Write the results as JSON' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l html -d 'Write the results as a page with plots' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l svg -d 'Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison p999 against throughput, of a fan-out latency by width' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-insecure -d 'Encrypt, and believe every certificate'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l tls-no-resumption -d 'Resume no TLS session: shake hands in full each time'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -l preload -d 'Write every key once before'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand run" -s h -l help -d 'Print help'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l p999 -d 'The bound' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l start -d 'The first rate (k, m) [default: 1k, or the lowest that has enough requests]' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l precision -d 'The search ends when it knows the limit this well, in percent' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l retries -d 'How often a rate that does not hold is tried again' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s p -l protocol -d 'What it speaks: memcache, meta, resp2, resp3 or ping' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s a -l address -d 'Where it listens: HOST, HOST:PORT or unix:/path. With several, a,b,c, connections are divided among these servers in turns' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-ca -d 'Encrypt, and believe the certificates of this authority (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-name -d 'The host that the server\'s certificate is for' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-cert -d 'The certificate to show (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-key -d 'Its key (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s c -l connections -d 'Connections, of all threads together' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s t -l threads -d 'Threads, each with its share of the connections' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s d -l depth -d 'Requests of a pipeline; in an open loop the most that are under way on a connection [default: 1, in an open loop 64]' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l arrivals -d 'How the requests of an open loop follow each other: even or poisson' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l reconnect -d 'In a closed loop: open a new connection in place of each one that has had so many requests. The first request of each then waits for the connection and the TLS handshake, too (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l give-up-after -d 'A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to open none again' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s w -l warm-up -d 'Time before the measured time, under the same load' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s D -l duration -d 'The measured time' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s k -l keys -d 'How many keys there are (k, m: thousands, millions)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l key-size -d 'Bytes of a key: 20, 16-40, lognormal:MEDIAN:SIGMA[:MAX] or a list as 16=9,40=1' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s s -l value-size -d 'Bytes of a value, in the same ways (k, m: 1024, 1024 x 1024)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l popularity -d 'How requests spread over the keys: uniform or zipf:EXPONENT' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s m -l mix -d 'Kinds of requests by weight: get, set, delete, multiget' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l multiget-keys -d 'Keys of one multi-get' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l ttl -d 'Seconds that what is written lives, in the same ways as sizes; 0 for ever' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l seed -d 'The seed of all random numbers: the same seed asks the same' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l json -d 'Write the results as JSON' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l html -d 'Write the results as a page with plots' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l svg -d 'Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison p999 against throughput, of a fan-out latency by width' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-insecure -d 'Encrypt, and believe every certificate'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l tls-no-resumption -d 'Resume no TLS session: shake hands in full each time'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -l preload -d 'Write every key once before'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l server -d 'NAME=PROTOCOL,ADDRESS,COMMAND: the command stays in the foreground and listens at the address; `pid:NUMBER` for the command is a server that runs already. May be given several times' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l floor -d 'The name of a server without a store, which answers every get with the same value: what the kernel alone costs. Nothing is written to it before, and its values are not checked' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l rounds -d 'How often each server is measured' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l server-cpu -d 'The CPU that servers run on' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l client-cpu -d 'The CPU that the generator runs on' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l load -d 'NAME=FLAGS, as \'big=-s 1k -d 32\': a load of several, with the flags of the load that it has in place of those of the command line. May be given several times: loads take turns within a round' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s r -l rate -d 'Send so many requests per second, whatever becomes of them: an open loop (k, m). With several, 20k,40k,60k, each is measured, and the page has their curve' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l rate-of-peak -d 'The rates as shares of the first server\'s peak, what it answers in a closed loop of the same load: 0.6, or several' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s c -l connections -d 'Connections, of all threads together' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s t -l threads -d 'Threads, each with its share of the connections' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s d -l depth -d 'Requests of a pipeline; in an open loop the most that are under way on a connection [default: 1, in an open loop 64]' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l arrivals -d 'How the requests of an open loop follow each other: even or poisson' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l reconnect -d 'In a closed loop: open a new connection in place of each one that has had so many requests. The first request of each then waits for the connection and the TLS handshake, too (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l give-up-after -d 'A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to open none again' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s w -l warm-up -d 'Time before the measured time, under the same load' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s D -l duration -d 'The measured time' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s k -l keys -d 'How many keys there are (k, m: thousands, millions)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l key-size -d 'Bytes of a key: 20, 16-40, lognormal:MEDIAN:SIGMA[:MAX] or a list as 16=9,40=1' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s s -l value-size -d 'Bytes of a value, in the same ways (k, m: 1024, 1024 x 1024)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l popularity -d 'How requests spread over the keys: uniform or zipf:EXPONENT' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s m -l mix -d 'Kinds of requests by weight: get, set, delete, multiget' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l multiget-keys -d 'Keys of one multi-get' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l ttl -d 'Seconds that what is written lives, in the same ways as sizes; 0 for ever' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l seed -d 'The seed of all random numbers: the same seed asks the same' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-ca -d 'Encrypt, and believe the certificates of this authority (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-name -d 'The host that the server\'s certificate is for' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-cert -d 'The certificate to show (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-key -d 'Its key (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l json -d 'Write the results as JSON' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l html -d 'Write the results as a page with plots' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l svg -d 'Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison p999 against throughput, of a fan-out latency by width' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l svg-plot -d 'What --svg shows against throughput: p999, or the server\'s CPU time per request' -r -f -a "p999\t'p999 against throughput'
cpu\t'CPU time of the server per request against throughput'"
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l unpinned -d 'Bind nobody to a CPU'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l server-output -d 'Show what the servers print'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l preload -d 'Write every key once before'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-insecure -d 'Encrypt, and believe every certificate'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -l tls-no-resumption -d 'Resume no TLS session: shake hands in full each time'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l max -d 'Replay the first records only (k, m)' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l speed -d 'Send by the times of the trace, so many times as fast: 1 is as it was recorded, 10 ten times that. An open loop: latencies count from those times. Without it each request waits for those before' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s w -l warm-up -d 'The first records, which fill the cache: 20%, or a number (k, m). Misses are told of the whole trace, and of what is behind these' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s c -l connections -d 'Connections, of all threads together; each key has its own' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s t -l threads -d 'Threads, each with its share of the connections' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s d -l depth -d 'Requests of a pipeline; with --speed the most that are under way on a connection' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l give-up-after -d 'A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to open none again' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s p -l protocol -d 'What it speaks: memcache, meta, resp2, resp3 or ping' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s a -l address -d 'Where it listens: HOST, HOST:PORT or unix:/path. With several, a,b,c, connections are divided among these servers in turns' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-ca -d 'Encrypt, and believe the certificates of this authority (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-name -d 'The host that the server\'s certificate is for' -r
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-cert -d 'The certificate to show (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-key -d 'Its key (PEM)' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l json -d 'Write the results as JSON' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l html -d 'Write the results as a page with plots' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l svg -d 'Write the plot that stands for the others as SVG: of a run latency over time, of a sweep and a comparison p999 against throughput, of a fan-out latency by width' -r -F
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-insecure -d 'Encrypt, and believe every certificate'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -l tls-no-resumption -d 'Resume no TLS session: shake hands in full each time'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand help; and not __fish_seen_subcommand_from run sweep compare replay help" -f -a "run" -d 'Run one load (what happens without a command)'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand help; and not __fish_seen_subcommand_from run sweep compare replay help" -f -a "sweep" -d 'Find the highest rate of an open loop that keeps p999 under a bound'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand help; and not __fish_seen_subcommand_from run sweep compare replay help" -f -a "compare" -d 'Compare servers: start them, and measure them in turns'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand help; and not __fish_seen_subcommand_from run sweep compare replay help" -f -a "replay" -d 'Replay a trace: what a get does not find is written'
complete -c cacheperf -n "__fish_cacheperf_using_subcommand help; and not __fish_seen_subcommand_from run sweep compare replay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
