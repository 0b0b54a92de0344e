import { doesNotThrow, throws } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../host/real-clock.ts";
import { checkClusterOptions, checkForkOptions, checkUntilOptions } from "./check-options.ts";

const NAMES = "nodes, clock, seed, listen, from, store, controllers, scheduler, api, log";

const WRONG: readonly (readonly [unknown, string])[] = [
  [{ nodse: 3 }, `Cannot take option "nodse" of startCluster: there is none of this name; did you mean "nodes"?`],
  [{ wings: 2 }, `Cannot take option "wings" of startCluster: there is none of this name; it takes ${NAMES}`],
  [null, "Cannot take null as startCluster: give an object"],
  [{ clock: "virtuell" }, `Cannot take "virtuell" as clock: give "real", "virtual" or a Clock; did you mean "virtual"?`],
  [{ clock: 5 }, `Cannot take 5 as clock: give "real", "virtual" or a Clock`],
  [{ clock: {} }, `Cannot take {} as clock: give "real", "virtual" or a Clock`],
  [{ nodes: null }, "Cannot take null as nodes: give how many, or an object that says what they are like"],
  [{ nodes: "3" }, `Cannot take "3" as nodes: give how many, or an object that says what they are like`],
  [{ nodes: { cuont: 3 } }, `Cannot take option "cuont" of nodes: there is none of this name; did you mean "count"?`],
  [
    { nodes: { simulation: { rule: [] } } },
    `Cannot take option "rule" of nodes.simulation: there is none of this name; did you mean "rules"?`,
  ],
  [{ store: { driver: "foo" } }, `Cannot take "foo" as store.driver: give "memory" or "embedded" or "etcd"`],
  [{ store: { driver: "__proto__" } }, `Cannot take "__proto__" as store.driver: give "memory" or "embedded" or "etcd"`],
  [{ store: "memory" }, `Cannot take "memory" as store: give an object such as { driver: "memory" }`],
  [{ store: { driver: "embedded" } }, "Cannot take undefined as store.dataDirectory: give the path of a directory"],
  [{ store: { driver: "memory", prefix: "/a" } }, `Cannot take option "prefix" of store: there is none of this name; it takes driver`],
  [{ store: { driver: "etcd", servers: "http://a" } }, `Cannot take "http://a" as store.servers: give a list of addresses`],
  [{ listen: { port: 6443 } }, `Cannot take option "port" of listen: there is none of this name`],
  [{ listen: 6443 }, "Cannot take 6443 as listen: give true, false or an object"],
  [{ seed: "1" }, `Cannot take "1" as seed: give a number`],
  [{ controllers: "*" }, `Cannot take "*" as controllers: give a list of names, such as ["*"]`],
  [{ from: 5 }, "Cannot take 5 as from: give the path of a file that snapshot wrote"],
  [
    { api: { requestTimeoutMS: 5 } },
    `Cannot take option "requestTimeoutMS" of api: there is none of this name; did you mean "requestTimeoutMs"?`,
  ],
];

for (const [options, message] of WRONG) {
  test(`options ${JSON.stringify(options)} are refused in one sentence`, () => {
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
  test(`options that are right are taken (${index + 1})`, () => doesNotThrow(() => checkClusterOptions(options as never)));

test("a fork takes less, and until something else", () => {
  throws(() => checkForkOptions({ nodes: 3 } as never), /^TypeError: Cannot take option "nodes" of fork: .*it takes listen, seed, log$/);
  throws(
    () => checkUntilOptions({ whithin: "5s" } as never),
    /^TypeError: Cannot take option "whithin" of until: .*did you mean "within"\?$/,
  );
});
