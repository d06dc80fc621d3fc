// A program as users of node-redis write them. usage: node node_redis_client.mjs PORT [2|3]
import assert from "node:assert/strict";
import { createClient, createClientPool, RESP_TYPES } from "redis";

const port = Number(process.argv[2]);
const RESP = Number(process.argv[3] ?? 2);
const client = createClient({ socket: { port, host: "127.0.0.1" }, RESP, name: "node-redis-test" });
client.on("error", (error) => { console.error(error); process.exit(1); });

await client.connect();
assert.equal(await client.ping(), "PONG");
assert.equal(await client.set("k", "value"), "OK");
assert.equal(await client.get("k"), "value");
assert.equal(await client.set("k", "new", { expiration: { type: "EX", value: 100 }, condition: "XX", GET: true }), "value");
assert.ok(await client.ttl("k") > 90);
assert.equal(await client.set("k", "no", { condition: "NX" }), null);
assert.equal(await client.getEx("k", { type: "PERSIST" }), "new");
assert.equal(await client.ttl("k"), -1);
assert.equal(await client.clientGetName(), "node-redis-test");
assert.deepEqual(await client.mGet(["k", "none"]), ["new", null]);
await client.mSet([["a", "1"], ["b", "2"]]);
assert.equal(await client.incrBy("a", 41), 42);
assert.equal(await client.copy("a", "copied"), 1);
assert.equal(await client.exists(["a", "b", "copied", "none"]), 3);
assert.equal(await client.lcs("a", "copied"), "42");
assert.equal(await client.expireTime("none"), -2);

const bytes = Buffer.from([0, 13, 10, 255]);
await client.set("bin", bytes);
const raw = await client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get("bin");
assert.ok(bytes.equals(raw));

await assert.rejects(client.incr("bin"), /ERR value is not an integer or out of range/);
await assert.rejects(client.sendCommand(["NOSUCH"]), /ERR unknown command 'NOSUCH'/);

const answers = await Promise.all(Array.from({ length: 1000 }, (_, number) => client.set(`p:${number}`, String(number))));
assert.ok(answers.every((answer) => answer === "OK"));
const found = new Set();
for await (const keys of client.scanIterator({ MATCH: "p:*", COUNT: 100 })) keys.forEach((key) => found.add(key));
assert.equal(found.size, 1000);

assert.equal((await client.configGet("maxclients")).maxclients, "10000");
assert.match(await client.info("server"), /redis_version:/);
const listed = await client.clientList();
assert.ok(listed.some((one) => one.name === "node-redis-test"));
assert.equal((await client.clientInfo()).name, "node-redis-test");

const pool = createClientPool({ socket: { port, host: "127.0.0.1" }, RESP }, { minimum: 1, maximum: 8 });
pool.on("error", (error) => { console.error(error); process.exit(1); });
await pool.connect();
await Promise.all(Array.from({ length: 200 }, () => pool.incr("pooled")));
assert.equal(await pool.get("pooled"), "200");

const second = await client.duplicate({ database: 5 }).connect();
assert.equal(await second.dbSize(), 0);
await second.close();
await pool.close();
await client.close();
console.log("ok");
