// A program as users of ioredis write them. usage: node ioredis_client.mjs PORT
import assert from "node:assert/strict";
import Redis from "ioredis";

const port = Number(process.argv[2]);
const redis = new Redis({ port, host: "127.0.0.1", connectionName: "ioredis-test", keyPrefix: "io:", enableReadyCheck: true });

await new Promise((resolve, reject) => { redis.once("ready", resolve); redis.once("error", reject); });
assert.equal(await redis.set("k", "value"), "OK");
assert.equal(await redis.get("k"), "value");
assert.equal(await redis.set("k", "other", "EX", 100, "NX"), null);
assert.ok(await redis.ttl("k") === -1);
assert.equal(await redis.set("k", "other", "EX", 100, "XX"), "OK");
assert.ok(await redis.ttl("k") > 90);
assert.deepEqual(await redis.getBuffer("k"), Buffer.from("other"));
assert.equal(await redis.client("GETNAME"), "ioredis-test");

const bytes = Buffer.from([0, 13, 10, 255]);
await redis.set("bin", bytes);
assert.ok(bytes.equals(await redis.getBuffer("bin")));

const pipeline = redis.pipeline();
for (let number = 0; number < 1000; number++) pipeline.set(`p:${number}`, number).incr("count");
const results = await pipeline.exec();
assert.equal(results.length, 2000);
assert.ok(results.every(([error]) => error === null));
assert.equal(await redis.get("count"), "1000");

await assert.rejects(redis.incr("bin"), /ERR value is not an integer or out of range/);
await assert.rejects(redis.call("NOSUCH", "a", "b"), /ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b'/);

assert.deepEqual(await redis.mget("k", "none"), ["other", null]);
await redis.mset({ a: 1, b: 2 });
assert.equal(await redis.incrbyfloat("a", 0.5), "1.5");

const found = new Set();
for await (const keys of redis.scanStream({ match: "io:p:*", count: 50 })) keys.forEach((key) => found.add(key));
assert.equal(found.size, 1000);

const many = await Promise.all(Array.from({ length: 500 }, (_, number) => redis.get(`p:${number}`)));
assert.deepEqual(many, Array.from({ length: 500 }, (_, number) => String(number)));

const second = redis.duplicate({ db: 3 });
assert.equal(await second.get("k"), null);
const auto = new Redis({ port, host: "127.0.0.1", enableAutoPipelining: true });
const answers = await Promise.all([auto.set("auto", "1"), auto.incr("auto"), auto.get("auto")]);
assert.deepEqual(answers, ["OK", 2, "2"]);
assert.match(await auto.info("server"), /redis_version:\d+\.\d+\.\d+/);

await Promise.all([redis.quit(), second.quit(), auto.quit()]);
console.log("ok");
