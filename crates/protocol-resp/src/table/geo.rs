// SPDX-License-Identifier: Apache-2.0
//! Places on the earth: sorted sets, the scores of which are places.

use super::macros::commands;

commands! {
    group: Geo;

    Geoadd = geo::geoadd {
        name: "geoadd", arity: -5, since: "3.2.0",
        flags: [WRITE DENYOOM], categories: [GEO], keys: [at(1): RW UPDATE],
        syntax: "key [condition: NX | XX] [change: CH] (longitude:double latitude:double member)...",
        reply: Integer, complexity: "O(log(N)) a member",
        summary: "Adds members to a sorted set with places as their scores.",
    }
    Geodist = geo::geodist {
        name: "geodist", arity: -4, since: "3.2.0",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key member1 member2 [unit: M | KM | FT | MI]",
        reply: BulkOrNull, complexity: "O(1)",
        summary: "Tells how far two members are from each other.",
    }
    Geohash = geo::geohash {
        name: "geohash", arity: -2, since: "3.2.0",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key member...",
        reply: Array, complexity: "O(N) in the members asked for",
        summary: "Tells the places of members as geohashes.",
    }
    Geopos = geo::geopos {
        name: "geopos", arity: -2, since: "3.2.0",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key member...",
        reply: Array, complexity: "O(N) in the members asked for",
        summary: "Tells the places of members as longitude and latitude.",
    }
    Georadius = geo::georadius {
        name: "georadius", arity: -6, since: "3.2.0",
        flags: [WRITE DENYOOM], categories: [GEO],
        keys: [
            at(1): RO ACCESS;
            keyword_option("STORE", 6, &[("COUNT", 1), ("STOREDIST", 1)]): OW UPDATE;
            keyword_option("STOREDIST", 6, &[("COUNT", 1), ("STORE", 1)]): OW UPDATE
        ],
        syntax: "key longitude:double latitude:double radius:double (unit: M | KM | FT | MI) \
                 [withcoord: WITHCOORD] [withdist: WITHDIST] [withhash: WITHHASH] \
                 [(count: COUNT count [any: ANY])] [order: ASC | DESC] [STORE key#1] [STOREDIST key#2]",
        reply: Various, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members around a place, and returns or stores them.",
        deprecated: "6.2.0" => "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
    }
    GeoradiusRo = geo::georadius_ro {
        name: "georadius_ro", arity: -6, since: "3.2.10",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key longitude:double latitude:double radius:double (unit: M | KM | FT | MI) \
                 [withcoord: WITHCOORD] [withdist: WITHDIST] [withhash: WITHHASH] \
                 [(count: COUNT count [any: ANY])] [order: ASC | DESC]",
        reply: Array, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members around a place.",
        deprecated: "6.2.0" => "`GEOSEARCH` with the `BYRADIUS` argument",
    }
    Georadiusbymember = geo::georadiusbymember {
        name: "georadiusbymember", arity: -5, since: "3.2.0",
        flags: [WRITE DENYOOM], categories: [GEO],
        keys: [
            at(1): RO ACCESS;
            keyword_option("STORE", 5, &[("COUNT", 1), ("STOREDIST", 1)]): OW UPDATE;
            keyword_option("STOREDIST", 5, &[("COUNT", 1), ("STORE", 1)]): OW UPDATE
        ],
        syntax: "key member radius:double (unit: M | KM | FT | MI) \
                 [withcoord: WITHCOORD] [withdist: WITHDIST] [withhash: WITHHASH] \
                 [(count: COUNT count [any: ANY])] [order: ASC | DESC] [STORE key#1] [STOREDIST key#2]",
        reply: Various, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members around one of them, and returns or stores them.",
        deprecated: "6.2.0" =>
            "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
    }
    GeoradiusbymemberRo = geo::georadiusbymember_ro {
        name: "georadiusbymember_ro", arity: -5, since: "3.2.10",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key member radius:double (unit: M | KM | FT | MI) \
                 [withcoord: WITHCOORD] [withdist: WITHDIST] [withhash: WITHHASH] \
                 [(count: COUNT count [any: ANY])] [order: ASC | DESC]",
        reply: Array, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members around one of them.",
        deprecated: "6.2.0" => "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
    }
    Geosearch = geo::geosearch {
        name: "geosearch", arity: -7, since: "6.2.0",
        flags: [READONLY], categories: [GEO], keys: [at(1): RO ACCESS],
        syntax: "key [from: FROMMEMBER member | FROMLONLAT (longitude:double latitude:double)] \
                 (by: (circle: BYRADIUS radius:double (unit: M | KM | FT | MI)) | \
                 (box: BYBOX width:double height:double (unit: M | KM | FT | MI)) | \
                 (polygon: BYPOLYGON num-vertices:integer (vertices: longitude:double latitude:double)...)) \
                 [order: ASC | DESC] [(count: COUNT count [any: ANY])] \
                 [withcoord: WITHCOORD] [withdist: WITHDIST] [withhash: WITHHASH]",
        reply: Array, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members in a circle, a box or a polygon.",
    }
    Geosearchstore = geo::geosearchstore {
        name: "geosearchstore", arity: -8, since: "6.2.0",
        flags: [WRITE DENYOOM], categories: [GEO], keys: [at(1): OW UPDATE; at(2): RO ACCESS],
        syntax: "destination source [from: FROMMEMBER member | FROMLONLAT (longitude:double latitude:double)] \
                 (by: (circle: BYRADIUS radius:double (unit: M | KM | FT | MI)) | \
                 (box: BYBOX width:double height:double (unit: M | KM | FT | MI)) | \
                 (polygon: BYPOLYGON num-vertices:integer (vertices: longitude:double latitude:double)...)) \
                 [order: ASC | DESC] [(count: COUNT count [any: ANY])] [storedist: STOREDIST]",
        reply: Integer, complexity: "O(N+M*log(M)) in the members N of the cells around and those found M",
        summary: "Finds the members in a circle, a box or a polygon, and stores them.",
    }
}
