import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { csiDrivers } from "../../../api/storage.k8s.io/v1/csi-driver.ts";
import { silentLogger } from "../../../base/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import { createInformers } from "../../../client/informer/informers.ts";
import { startControlledServer } from "../../../testing/servers/controlled-server.ts";
import { createClient } from "../../../client/rest-client.ts";
import { AllocatableUpdates } from "./allocatable-updates.ts";

function csiDriver(name: string, nodeAllocatableUpdatePeriodSeconds?: number) {
  const spec = nodeAllocatableUpdatePeriodSeconds === undefined ? {} : { nodeAllocatableUpdatePeriodSeconds };
  return { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name }, spec } as const;
}

test("the limits of a CSI driver are published with the period of its CSIDriver while it is registered", async () => {
  await using server = await startControlledServer(["-*"]);
  const { clock } = server;
  const client = createClient(server.transport());
  for (const object of [csiDriver("a", 10), csiDriver("b")]) await client.create(csiDrivers, object);
  await using informers = createInformers({ transport: server.transport(), clock, random: seededRandom(1), log: silentLogger });
  const published: string[] = [];
  let names = ["b"];
  const listeners = new Set<() => void>();
  const drivers = {
    list: () => names.map((name) => ({ name, endpoint: "" })),
    listen(listener: () => void) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async publishInfo(name: string) {
      published.push(name);
      if (published.length === 1) throw new Error("away");
    },
  };
  const registrationChanged = (): void => listeners.forEach((listener) => listener());
  await using _updates = new AllocatableUpdates({ drivers, informers, clock, log: silentLogger });
  names = ["a", "b"];
  registrationChanged();
  await clock.advance(25_000);
  const first = published.splice(0);
  await client.patch(csiDrivers, { name: "a" }, { type: "merge", value: { spec: { nodeAllocatableUpdatePeriodSeconds: 20 } } });
  await clock.advance(25_000);
  const slower = published.splice(0);
  names = ["b"];
  registrationChanged();
  await clock.advance(60_000);

  deepEqual([first, slower, published], [["a", "a"], ["a"], []]);
});
