<?php
// SPDX-License-Identifier: Apache-2.0
// Runs phpredis' tests but for those whose names match a pattern in full, each by itself, and says what became of
// each: phpredis_driver.php FOLDER HOST PORT PATTERN. What stops one test does not stop the others.

define('PHPREDIS_TESTRUN', true);
[, $folder, $host, $port, $left_out] = $argv;
// The tests look for their files beside the program.
$_SERVER['PHP_SELF'] = "$folder/TestRedis.php";
require_once "$folder/TestSuite.php";
require_once "$folder/RedisTest.php";

foreach (get_class_methods('Redis_Test') as $name) {
    if (substr($name, 0, 4) !== 'test') {
        continue;
    }
    if (preg_match("/^(?:$left_out)$/", $name)) {
        echo "LEFT OUT $name\n";
        continue;
    }
    $before = count(TestSuite::$errors);
    $why = '';
    try {
        $test = new Redis_Test($host, (int)$port, null);
        $test->setUp();
        $test->$name();
        $outcome = count(TestSuite::$errors) > $before ? 'FAILED' : 'PASSED';
        $why = implode(' ', array_slice(TestSuite::$errors, $before));
    } catch (TestSkippedException $error) {
        $outcome = 'SKIPPED';
    } catch (Throwable $error) {
        $outcome = 'FAILED';
        $why = get_class($error) . ': ' . $error->getMessage() . ', line ' . $error->getLine();
    }
    echo "$outcome $name ", preg_replace('/\s+/', ' ', $why), "\n";
}
