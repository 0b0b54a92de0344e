import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import type { ConfigValue } from "../cli/framework/config-file.ts";
import { upOptions } from "./up-options.ts";

function options(given: Record<string, ConfigValue>) {
  return upOptions(new Map(Object.entries({ "data-dir": "/nowhere/k8ts", ...given })), undefined, {});
}

test("--test-control implies the memory store and one simulated node", () => {
  const parsed = options({ "test-control": true, "virtual-time": true });

  deepEqual(parsed.ok && [parsed.options.store, parsed.options.simulatedNodes, parsed.options.runsContainers, parsed.options.testControl], [
    { driver: "memory" },
    1,
    false,
    { port: 0, isVirtual: true },
  ]);
});

test("no test control exists without --test-control", () => {
  const parsed = options({});

  deepEqual(parsed.ok && parsed.options.testControl, undefined);
});

const REJECTED: readonly { given: Record<string, ConfigValue>; says: RegExp }[] = [
  { given: { "virtual-time": true }, says: /^--virtual-time requires --test-control/ },
  { given: { "test-control-port": 1234 }, says: /^--test-control-port requires --test-control/ },
  { given: { "test-control": true, nodes: 2 }, says: /leave out --nodes/ },
  { given: { "test-control": true, processes: true }, says: /leave out --processes/ },
  { given: { "test-control": true, store: "embedded" }, says: /leave out --store other than memory/ },
  { given: { "test-control": true, "etcd-servers": ["https://192.0.2.1:2379"] }, says: /leave out --etcd-servers/ },
  { given: { "test-control": true, containers: true }, says: /leave out --containers/ },
  { given: { "test-control": true, "container-runtime-endpoint": "unix:///a.sock" }, says: /leave out --container-runtime-endpoint/ },
];

for (const { given, says } of REJECTED) {
  test(`${JSON.stringify(given)} is rejected`, () => {
    const parsed = options(given);

    match(parsed.ok ? "" : parsed.problems.join("\n"), new RegExp(says.source, "m"));
  });
}
