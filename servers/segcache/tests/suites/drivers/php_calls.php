<?php
// SPDX-License-Identifier: Apache-2.0
// Everything PHP's memcached extension can do with one server, in the text protocol and in the binary one, and PHP's
// sessions. Prints a line for each call.

function shown($value)
{
    $text = is_string($value) ? $value : json_encode($value);
    return strlen($text) > 100 ? strlen($text) . ' bytes ' . md5($text) : addcslashes($text, "\0..\37\177..\377");
}

// Numbers of versions differ from server to server.
function without_numbers($result)
{
    $without = fn($found) => is_array($found) ? array_diff_key($found, ['cas' => 0]) : $found;
    return is_array($result) ? array_map($without, $result) : $result;
}

foreach ([false, true] as $binary) {
    $client = new Memcached();
    $client->setOption(Memcached::OPT_BINARY_PROTOCOL, $binary);
    $client->setOption(Memcached::OPT_COMPRESSION, false);
    $client->addServer('127.0.0.1', 11211);
    $tell = function ($call, ...$words) use ($client, $binary) {
        $result = $client->$call(...$words);
        $said = $client->getResultMessage();
        printf("%d %s %s: %s (%s)\n", $binary, $call, shown($words[0] ?? ''), shown(without_numbers($result)), $said);
        return $result;
    };
    $tell('flush');
    foreach (['text', '', 7, 1.5, true, null, [1, 'a' => 2], "\r\n\0END\r\n", str_repeat('x', 900000)] as $value) {
        $tell('set', 'a', $value);
        $tell('get', 'a');
    }
    $tell('get', 'none');
    $tell('set', 'later', 'x', 1000);
    $tell('set', 'gone', 'x', -1);
    $tell('get', 'gone');
    $tell('add', 'a', 'x');
    $tell('add', 'b', 'x');
    $tell('replace', 'b', 'y');
    $tell('replace', 'none', 'y');
    $tell('append', 'b', 'z');
    $tell('append', 'none', 'z');
    $tell('prepend', 'b', 'x');
    $tell('prepend', 'none', 'x');
    $tell('get', 'b');
    $found = $client->get('b', null, Memcached::GET_EXTENDED);
    printf("%d cas: %s\n", $binary, shown($client->cas($found['cas'], 'b', 'new')));
    $tell('get', 'b');
    printf("%d cas too late: %s\n", $binary, shown($client->cas($found['cas'], 'b', 'newer')));
    $tell('set', 'n', 10);
    $tell('increment', 'n', 5);
    $tell('decrement', 'n', 7);
    $tell('decrement', 'n', 100);
    $tell('increment', 'none', 1);
    $tell('increment', 'b', 1);
    if ($binary) {
        $tell('increment', 'made', 5, 10, 1000);
        $tell('get', 'made');
    }
    $tell('touch', 'b', 100);
    $tell('touch', 'none', 100);
    $tell('setMulti', array_combine(array_map(fn($n) => "m$n", range(0, 99)), range(0, 99)));
    $tell('getMulti', array_map(fn($n) => "m$n", range(0, 120)));
    $tell('getDelayed', ['m1', 'none', 'm2']);
    $tell('fetchAll');
    $tell('deleteMulti', ['m1', 'none', 'm2']);
    $tell('delete', 'b');
    $tell('delete', 'b');
    $tell('set', 'large', str_repeat('x', 2000000));
    $tell('get', 'm3');
    $tell('set', str_repeat('k', 250), 'x');
    $tell('get', str_repeat('k', 250));
    $client->setOption(Memcached::OPT_NOREPLY, true);
    $tell('set', 'quiet', 'x');
    $tell('delete', 'm4');
    $client->setOption(Memcached::OPT_NOREPLY, false);
    $tell('get', 'quiet');
    $tell('get', 'm4');
    printf("%d version: %d\n", $binary, count($client->getVersion()));
    printf("%d stats: %d\n", $binary, isset(array_values($client->getStats())[0]['curr_items']));
    $tell('flush');
    $tell('get', 'quiet');
    $client->quit();
}

ini_set('session.save_handler', 'memcached');
ini_set('session.save_path', '127.0.0.1:11211');
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
foreach (['first', 'second', null] as $word) {
    session_id('abc');
    session_start();
    echo 'session: ', json_encode($_SESSION), "\n";
    $word === null ? session_destroy() : $_SESSION[$word] = [1, $word];
    session_write_close();
}
