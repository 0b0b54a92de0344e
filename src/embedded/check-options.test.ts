import { doesNotThrow, throws } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../host/real-clock.ts";
import { checkClusterOptions, checkForkOptions, checkUntilOptions } from "./check-options.ts";

const NAMES = "nodes, clock, seed, listen, from, store, controllers, scheduler, api, log";

const WRONG: readonly (readonly [unknown, string])[] = [
  [{ nodse: 3 }, `Unknown option "nodse" of startCluster; did you mean "nodes"?`],
  [{ wings: 2 }, `Unknown option "wings" of startCluster; the options are ${NAMES}`],
  [null, "startCluster must be an object, is null"],
  [{ clock: "virtuell" }, `clock must be "real", "virtual" or a Clock, is "virtuell"; did you mean "virtual"?`],
  [{ clock: 5 }, `clock must be "real", "virtual" or a Clock, is 5`],
  [{ clock: {} }, `clock must be "real", "virtual" or a Clock, is {}`],
  [{ nodes: null }, "nodes must be a number, or an object with count and options, is null"],
  [{ nodes: "3" }, `nodes must be a number, or an object with count and options, is "3"`],
  [{ nodes: { cuont: 3 } }, `Unknown option "cuont" of nodes; did you mean "count"?`],
  [{ nodes: { simulation: { rule: [] } } }, `Unknown option "rule" of nodes.simulation; did you mean "rules"?`],
  [{ store: { driver: "foo" } }, `store.driver must be "memory" or "embedded" or "etcd", is "foo"`],
  [{ store: { driver: "__proto__" } }, `store.driver must be "memory" or "embedded" or "etcd", is "__proto__"`],
  [{ store: "memory" }, `store must be an object such as { driver: "memory" }, is "memory"`],
  [{ store: { driver: "embedded" } }, "store.dataDirectory must be the path of a directory, is undefined"],
  [{ store: { driver: "memory", prefix: "/a" } }, `Unknown option "prefix" of store; the options are driver`],
  [{ store: { driver: "etcd", servers: "http://a" } }, `store.servers must be a list of URLs, is "http://a"`],
  [{ listen: { port: 6443 } }, `Unknown option "port" of listen; `],
  [{ listen: 6443 }, "listen must be true, false or an object, is 6443"],
  [{ seed: "1" }, `seed must be a number, is "1"`],
  [{ controllers: "*" }, `controllers must be a list of names, such as ["*"], is "*"`],
  [{ from: 5 }, "from must be the path of a file written by snapshot, is 5"],
  [{ api: { requestTimeoutMS: 5 } }, `Unknown option "requestTimeoutMS" of api; did you mean "requestTimeoutMs"?`],
];

for (const [options, message] of WRONG) {
  test(`options ${JSON.stringify(options)} are rejected in one sentence`, () => {
    throws(
      () => checkClusterOptions(options as never),
      (error: Error) => error instanceof TypeError && error.message.startsWith(message),
      message,
    );
  });
}

const RIGHT = [
  {},
  { nodes: 3, clock: "virtual", seed: 0, listen: true, controllers: [], scheduler: false, api: { requestTimeoutMs: 1 } },
  {
    nodes: { count: 1, simulation: { rules: [] } },
    clock: realClock,
    listen: { securePort: 0 },
    store: { driver: "embedded", dataDirectory: "a" },
  },
  { nodes: undefined, clock: undefined, store: undefined, listen: undefined, seed: undefined, from: undefined, api: undefined },
] as const;

for (const [index, options] of RIGHT.entries())
  test(`valid options are accepted (${index + 1})`, () => doesNotThrow(() => checkClusterOptions(options as never)));

test("a fork accepts fewer options, and until accepts others", () => {
  throws(() => checkForkOptions({ nodes: 3 } as never), /^TypeError: Unknown option "nodes" of fork; the options are listen, seed, log$/);
  throws(() => checkUntilOptions({ whithin: "5s" } as never), /^TypeError: Unknown option "whithin" of until; did you mean "within"\?$/);
});
