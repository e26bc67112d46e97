// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/**
 * Calls every method of a Java client's interface of commands, for a key of each type, and prints what it returns or throws.
 *
 * <p>The clients' tests are in no package. Two servers are alike for a client if this prints the same beside both. usage:
 * Calls jedis|lettuce PORT
 */
public class Calls {
    /** Keys of all types, of which each call finds the same. */
    static final String[] KEYS = {"string", "number", "list", "hash", "set", "zset", "stream", "log", "geo", "none"};

    static final List<String[]> FIXTURE =
            Stream.of(
                            "SET string value",
                            "SET number 10",
                            "RPUSH list a b c 1",
                            "HSET hash a 1 b 2 c 3",
                            "SADD set a b c",
                            "ZADD zset 1 a 2 b 3 c",
                            "XADD stream 1-1 a b",
                            "XADD stream 2-1 c d",
                            "XGROUP CREATE stream a 0",
                            "PFADD log a b c",
                            "GEOADD geo 13.361389 38.115556 a 15.087269 37.502669 b")
                    .map(line -> line.split(" "))
                    .toList();

    /** What differs from one time to the next, ends the connection, waits for what does not come, or is about the server. */
    static final Set<String> LEFT_OUT =
            Set.of(
                    "close", "quit", "shutdown", "reset", "isOpen", "setTimeout", "flushCommands", "setAutoFlushCommands",
                    "getStatefulConnection", "select", "auth", "info", "time", "lastsave", "save", "bgsave", "bgrewriteaof",
                    "clientId", "clientList", "clientInfo", "clientKill", "clientPause", "commandStats", "memoryUsage",
                    "objectEncoding", "objectIdletime", "objectFreq", "objectRefcount", "randomkey", "randomKey", "spop",
                    "srandmember", "hrandfield", "hrandfieldWithvalues", "hrandfieldWithValues", "zrandmember",
                    "zrandmemberWithScores", "slowlogGet", "slowlogLen", "configGet", "configSet", "configRewrite",
                    "configResetstat", "command", "commandCount", "commandInfo", "debugSegfault", "debugOom",
                    "debugRestart", "debugCrashAndRecover", "debugReload", "debugObject", "debugSdslen", "debugHtstats",
                    "aclGenpass", "aclLog", "aclList", "aclWhoami", "aclLoad", "aclSave", "aclSetuser", "aclDeluser",
                    "aclDryRun", "aclUsers", "aclGetuser", "aclCat", "replicaof", "replicaofNoOne", "slaveof",
                    "slaveofNoOne", "role", "waitForReplication", "waitReplicas", "waitAOF", "migrate", "xinfoStream",
                    "xinfoGroups", "xinfoConsumers", "xinfoStreamFull", "xinfoConsumers2", "hotkeysGet", "hotkeysStart",
                    "hotkeysStop", "hotkeysReset", "clientNoEvict", "clientTracking", "readOnly", "readWrite", "asking",
                    "dispatch", "dump", "latencyDoctor", "expiretime", "pexpiretime", "expireTime", "pexpireTime", "pttl",
                    "hpttl", "httl", "hpexpireTime", "hexpireTime", "hpexpiretime", "hexpiretime", "functionStats",
                    "clusterMyId", "clusterInfo", "clusterNodes", "xadd", "bzpopmin", "bzpopmax");

    /** Vector sets, which are a module's. */
    static final String MODULES = "v[A-Za-z].*";

    interface Server {
        Object raw(String... words) throws Exception;

        Object commands();

        Class<?> type();
    }

    public static void main(String[] words) throws Exception {
        int port = Integer.parseInt(words[1]);
        Server server = words[0].equals("jedis") ? jedis(port) : lettuce(port);
        Method[] methods = server.type().getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::toGenericString));
        ExecutorService calls = Executors.newCachedThreadPool();
        for (Method method : methods) {
            boolean bytes = Arrays.asList(method.getParameterTypes()).stream().anyMatch(Calls::isBytes);
            if (LEFT_OUT.contains(method.getName()) || method.getName().matches(MODULES) || bytes || method.isDefault()) {
                continue;
            }
            for (String key : KEYS) {
                Object[] given = new Object[method.getParameterCount()];
                boolean known = true;
                for (int at = 0; at < given.length && known; at++) {
                    given[at] = value(method.getGenericParameterTypes()[at], at, key);
                    known = given[at] != null;
                }
                if (!known) {
                    break;
                }
                server.raw("FLUSHALL");
                for (String[] command : FIXTURE) {
                    server.raw(command);
                }
                String shown = Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(","));
                String called = method.getName() + "(" + shown + ") of " + key;
                System.out.println("--- PASS: " + (called + " -> " + outcome(server, method, given)).replaceAll("\\s+", "_"));
                if (given.length == 0) {
                    break;
                }
            }
        }
        System.out.flush();
        System.exit(0);
    }

    static String outcome(Server server, Method method, Object[] given) {
        try {
            return show(method.invoke(server.commands(), given));
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            return cause.getClass().getSimpleName() + ": " + cause.getMessage();
        } catch (Exception thrown) {
            return thrown.toString();
        }
    }

    static boolean isBytes(Class<?> type) {
        return type == byte[].class || type == byte[][].class;
    }

    /** Members of sets and hashes come in any order. */
    static String show(Object value) {
        if (value == null) {
            return "null";
        } else if (value instanceof byte[] bytes) {
            return new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
        } else if (value instanceof Set<?> set) {
            return set.stream().map(Calls::show).sorted().toList().toString();
        } else if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> show(e.getKey()) + "=" + show(e.getValue())).sorted().toList().toString();
        } else if (value instanceof Collection<?> list) {
            return list.stream().map(Calls::show).sorted().toList().toString();
        }
        String shown = value.toString();
        // A class that does not say what is in it.
        return shown.matches(".*@[0-9a-f]+$") ? value.getClass().getSimpleName() : shown;
    }

    /** An argument of a type: the first text is the key. Null if there is none. */
    static Object value(Type type, int at, String key) throws Exception {
        if (type instanceof ParameterizedType of) {
            Type[] inner = of.getActualTypeArguments();
            Class<?> raw = (Class<?>) of.getRawType();
            if (raw == Map.class) {
                Object name = value(inner[0], at, key), held = value(inner[1], at + 1, key);
                return name == null || held == null ? null : Map.of(name, held);
            } else if (raw == List.class || raw == Iterable.class || raw == Collection.class) {
                Object held = value(inner[0], at, key);
                return held == null ? null : List.of(held);
            }
            return value(raw, at, key);
        } else if (type instanceof GenericArrayType of) {
            return array(of.getGenericComponentType(), at, key);
        } else if (type instanceof TypeVariable<?>) {
            return text(at, key);
        } else if (!(type instanceof Class<?>)) {
            return null;
        }
        Class<?> plain = (Class<?>) type;
        if (plain == String.class || plain == Object.class || plain == CharSequence.class) {
            return text(at, key);
        } else if (plain == long.class || plain == Long.class) {
            return 1L;
        } else if (plain == int.class || plain == Integer.class) {
            return 1;
        } else if (plain == double.class || plain == Double.class) {
            return 0.5;
        } else if (plain == boolean.class || plain == Boolean.class) {
            return true;
        } else if (plain.isArray()) {
            return array(plain.getComponentType(), at, key);
        } else if (plain.isEnum()) {
            return plain.getEnumConstants()[0];
        } else if (plain.getSimpleName().equals("StreamEntryID")) {
            return plain.getConstructor(long.class, long.class).newInstance(1L, 1L);
        } else if (!Modifier.isAbstract(plain.getModifiers()) && plain.getName().matches(".*(Params?|Args|Limit)$")) {
            try {
                return plain.getConstructor().newInstance();
            } catch (NoSuchMethodException none) {
                return null;
            }
        }
        return null;
    }

    static String text(int at, String key) {
        return at == 0 ? key : new String[] {"a", "1", "2", "b"}[(at - 1) % 4];
    }

    static Object array(Type of, int at, String key) throws Exception {
        Object held = value(of, at, key);
        if (held == null) {
            return null;
        }
        Class<?> plain = of instanceof Class<?> known ? known : of instanceof TypeVariable<?> ? Object.class : held.getClass();
        Object array = Array.newInstance(plain, 1);
        Array.set(array, 0, held);
        return array;
    }

    static Server jedis(int port) {
        var client = redis.clients.jedis.RedisClient.create("127.0.0.1", port);
        return new Server() {
            public Object raw(String... words) {
                String[] more = Arrays.copyOfRange(words, 1, words.length);
                return client.sendCommand(() -> words[0].getBytes(), more);
            }

            public Object commands() {
                return client;
            }

            public Class<?> type() {
                return redis.clients.jedis.commands.JedisCommands.class;
            }
        };
    }

    static Server lettuce(int port) {
        var client = io.lettuce.core.RedisClient.create("redis://127.0.0.1:" + port);
        var commands = client.connect().sync();
        return new Server() {
            public Object raw(String... words) {
                var codec = io.lettuce.core.codec.StringCodec.UTF8;
                var given = new io.lettuce.core.protocol.CommandArgs<String, String>(codec);
                for (String word : Arrays.copyOfRange(words, 1, words.length)) {
                    given.add(word);
                }
                var output = new io.lettuce.core.output.NestedMultiOutput<String, String>(codec);
                return commands.dispatch(new Word(words[0]), output, given);
            }

            public Object commands() {
                return commands;
            }

            public Class<?> type() {
                return io.lettuce.core.api.sync.RedisCommands.class;
            }
        };
    }

    record Word(String name) implements io.lettuce.core.protocol.ProtocolKeyword {
        public byte[] getBytes() {
            return name.getBytes();
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
