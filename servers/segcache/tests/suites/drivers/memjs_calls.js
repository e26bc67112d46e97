// SPDX-License-Identifier: Apache-2.0
// Everything memjs can do with one server, in the binary protocol. Prints a line for each call.
'use strict';

const { Client } = require('memjs');

async function main() {
  const client = Client.create('127.0.0.1:11211');
  const shown = (value) => {
    if (value && value.value instanceof Buffer) return `${value.value.length} ${value.value.toString('latin1').slice(0, 60)}`;
    return JSON.stringify(value);
  };
  const tell = async (name, ...words) => {
    const call = name.split(' ')[0];
    try {
      console.log(`${name}: ${JSON.stringify(shown(await client[call](...words)))}`);
    } catch (error) {
      console.log(`${name}: failed with ${error.message}`);
    }
  };
  await tell('flush');
  await tell('set', 'a', 'text', {});
  await tell('get', 'a');
  await tell('get absent', 'none');
  await tell('set binary', 'b', Buffer.from([0, 13, 10, 128, 255]), { expires: 1000 });
  await tell('get binary', 'b');
  await tell('set empty', 'e', '', {});
  await tell('get empty', 'e');
  await tell('add present', 'a', 'x', {});
  await tell('add absent', 'c', 'x', {});
  await tell('replace present', 'c', 'y', {});
  await tell('replace absent', 'none', 'y', {});
  await tell('append', 'c', 'z');
  await tell('append absent', 'none', 'z');
  await tell('prepend', 'c', 'x');
  await tell('prepend absent', 'none', 'x');
  await tell('get c', 'c');
  await tell('increment makes', 'n', 5, { initial: 10 });
  await tell('increment', 'n', 5, {});
  await tell('decrement', 'n', 7, {});
  await tell('decrement below', 'n', 100, {});
  await tell('increment text', 'a', 1, {});
  await tell('get number', 'n');
  await tell('touch', 'a', 100);
  await tell('touch absent', 'none', 100);
  await tell('delete', 'a');
  await tell('delete absent', 'a');
  await tell('set large', 'l', 'x'.repeat(1000000), {});
  await tell('get large', 'l');
  await tell('set too large', 'l', 'x'.repeat(2000000), {});
  await tell('get too large', 'l');
  await tell('set longest', 'k'.repeat(250), 'x', {});
  await tell('get longest', 'k'.repeat(250));
  await Promise.all([...Array(100).keys()].map((n) => client.set(`m${n}`, `${n}`, {})));
  const all = await Promise.all([...Array(100).keys()].map((n) => client.get(`m${n}`)));
  console.log(`at a time: ${all.map((found) => found.value.toString()).join(' ')}`);
  client.version((error, version) => console.log(`version: ${error} ${String(version).includes('1.6')}`));
  client.stats((error, server, stats) => console.log(`stats: ${error} ${stats && 'curr_items' in stats}`));
  await tell('flush');
  await tell('get flushed', 'c');
  client.close();
}

main();
